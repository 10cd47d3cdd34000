"""Where the columns of a file are: by our own names, by those that --column gives, or by a guess that is said.

A guess is made only where our own name is missing. Optional columns are guessed only in a file that has other names
for the rest too: a file with our names reads as it is written.
"""

import difflib
import functools
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.validation import as_seen, nearest_name

KEPT_NAMES = 1 << 14  # of a header and of what is asked for
MAX_NAMES_SHOWN = 10  # in one message
SALES_COLUMNS = "date", "sku", "units"
ALMOST_EQUAL = 0.8  # the likeness from which on a column is taken for a misspelt one
# English, German, French, Spanish, Italian, Dutch, Portuguese and Polish, without capitals, accents and spaces.
GUESSES = {
    "date": (
        *("day", "saledate", "salesdate", "orderdate", "invoicedate", "transactiondate", "postingdate"),
        *("datum", "tag", "verkaufsdatum", "buchungsdatum", "belegdatum", "rechnungsdatum"),
        *("jour", "datevente", "datedevente", "fecha", "dia", "fechaventa", "fechadeventa"),
        *("data", "giorno", "datavendita", "datadivendita", "dag", "verkoopdatum"),
        *("datavenda", "datadavenda", "dzien", "datasprzedazy"),
    ),
    "sku": (
        *("item", "itemno", "itemnumber", "itemcode", "itemid", "article", "articleno", "articlenumber"),
        *("articlecode", "product", "productno", "productnumber", "productcode", "productid", "stockcode"),
        *("artikel", "artikelnr", "artikelnummer", "artnr", "artikelcode", "produkt", "produktnr"),
        *("produktnummer", "materialnummer", "codearticle", "referencearticle", "produit", "codeproduit"),
        *("reference", "articulo", "codigoarticulo", "codigodearticulo", "producto", "codigoproducto"),
        *("codigodeproducto", "referencia", "articolo", "codicearticolo", "prodotto", "codiceprodotto"),
        *("artigo", "codigodoartigo", "produto", "codigoproduto", "codigodoproduto"),
        *("artykul", "towar", "kodtowaru", "kodproduktu", "indeks"),
    ),
    "units": (
        *("qty", "quantity", "unitssold", "qtysold", "quantitysold", "soldunits", "pieces", "pcs"),
        *("menge", "stuck", "stueck", "stuckzahl", "stueckzahl", "anzahl", "verkauft", "verkaufsmenge", "absatz"),
        *("quantite", "qte", "quantitevendue", "unites", "unitesvendues"),
        *("cantidad", "unidades", "unidadesvendidas", "cantidadvendida"),
        *("quantita", "qta", "pezzi", "unita", "quantitavenduta"),
        *("aantal", "hoeveelheid", "verkocht", "stuks"),
        *("quantidade", "qtd", "qtde", "quantidadevendida", "ilosc", "sztuki", "szt", "sprzedano"),
    ),
    "stock": (
        *("onhand", "qtyonhand", "quantityonhand", "stockonhand", "stocklevel", "inventory"),
        *("bestand", "lagerbestand", "lagermenge", "quantiteenstock", "qteenstock"),
        *("existencias", "inventario", "giacenza", "scorta", "scorte", "voorraad"),
        *("estoque", "stan", "stanmagazynowy", "zapas"),
    ),
    "in_stock": (
        *("isinstock", "onsale", "auflager", "vorratig", "vorraetig", "lieferbar", "enstock", "enexistencia"),
        *("disponibile", "opvoorraad", "leverbaar", "emestoque", "namagazynie"),
    ),
    "ordered": (
        *("orderqty", "orderedqty", "orderquantity", "qtyordered", "quantityordered", "bestellt", "bestellmenge"),
        *("quantitecommandee", "qtecommandee", "cantidadpedida", "ordinato", "quantitaordinata"),
        *("besteld", "encomendado", "quantidadeencomendada", "zamowiono", "zamowione"),
    ),
}
# Beside a word for units, in names of two words such as "Verkaufte Menge".
SOLD = {
    *("sold", "verkauft", "verkaufte", "verkauften", "verkaufter", "verkauftes", "vendu", "vendue", "vendus"),
    *("vendues", "vendida", "vendidas", "vendido", "vendidos", "venduta", "vendute", "venduto", "venduti"),
    *("verkocht", "verkochte", "sprzedana", "sprzedane", "sprzedanych", "sprzedano"),
}


@dataclass
class ColumnSearch:
    """A search for columns in a file's header.

    Attributes
    ----------
    path, columns
        The file, and what its columns are called.
    wanted, optional
        Our names of those that must be there, and that may.
    names
        What a column is called in this file, if not by our name.
    hint
        What else to do if the column date is missing.
    has_option
        Whether --column of the command is about this file.
    ignored
        Names of columns that are neither taken nor compared.
    places
        Where each column was found, after ``run``.
    remarks
        What was guessed, and what is perhaps misspelt: a sentence each.
    """

    path: Path
    columns: list[str]
    wanted: Sequence[str]
    optional: Sequence[str]
    names: Mapping[str, str]
    hint: str = ""
    has_option: bool = True
    ignored: Collection[str] = ()
    places: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Find the columns, or raise an error that says what is missing and what to do."""
        asked = *self.wanted, *self.optional
        self._check_renamed(asked)
        for name in asked:
            self._find(name)
        if any(name not in self.places and name not in self.names for name in self.wanted):
            self._guess([name for name in asked if name not in self.places and name not in self.names])
        absent = [name for name in asked if name not in self.places]
        missing = {name: self.names.get(name, name) for name in absent if name in (*self.wanted, *self.names)}
        if missing:
            raise InvalidInputError(self._missing_columns(missing))
        self._say_misspelt(absent)
        self._say_twins()

    @property
    def _free(self) -> list[str]:
        """The columns that were not found by a name."""
        taken = set(self.places.values())
        free = (column for place, column in enumerate(self.columns) if place not in taken)
        return [column for column in free if plain_name(column) not in self.ignored]

    def _find(self, name: str) -> None:
        called = self.names.get(name, name)
        matches = [place for place, column in enumerate(self.columns) if column == called]
        matches = matches or [
            place for place, column in enumerate(self.columns) if plain_name(column) == plain_name(called)
        ]
        if len(matches) > 1:
            raise InvalidInputError(f"{self.path} must have one column {called!r}; it has {len(matches)}.")
        if matches:
            self.places[name] = matches[0]

    def _guess(self, absent: list[str]) -> None:
        """Take the columns whose names mean the absent ones in some language."""
        free, guessed = self._free, []
        for name in absent:
            found = [column for column in free if _means(column, name)]
            if len(found) == 1:
                self.places[name] = self.columns.index(found[0])
                guessed.append(f"{found[0]} as {name}")
            elif found:
                self._say_several(name, found)
        if guessed:
            self.remarks.append(f"Columns taken: {', '.join(guessed)}.")

    def _say_several(self, name: str, found: list[str]) -> None:
        """Refuse a file with two columns that may be a wanted one. An optional one is then not read."""
        several = " and ".join(map(repr, found))
        how = f"Say which: --column {name}=NAME." if self.has_option else f"Name one of them {name} in the header."
        if name in self.wanted:
            raise InvalidInputError(f"{self.path} must have one column {name!r}; {several} may be it. {how}")
        self.remarks.append(f"No column is taken as {name}: {several} may be it. {how}")

    def _say_misspelt(self, absent: list[str]) -> None:
        for column in self._free:
            near = difflib.get_close_matches(column.lower(), absent, n=1, cutoff=ALMOST_EQUAL)
            if near and not column.lower().startswith("coming"):
                self.remarks.append(f"Column {column!r} of {self.path.name} is not used. Did you mean {near[0]!r}?")

    def _say_twins(self) -> None:
        """Say which columns are not used because another one has nearly the same name."""
        used = {plain_name(self.columns[place]): self.columns[place] for place in self.places.values()}
        for column in self._free:
            if plain_name(column) in used:
                beside = used[plain_name(column)]
                self.remarks.append(f"Column {column!r} of {self.path.name} is not used, but {beside!r} is.")

    def _check_renamed(self, asked: Sequence[str]) -> None:
        """Refuse a name for a column that is not read."""
        for name, called in self.names.items():
            if name not in asked:
                is_swapped = called in asked and name in self.columns
                tip = f" Our name comes first: --column {called}={name}." if is_swapped else ""
                here = listed(list(asked), MAX_NAMES_SHOWN, ", ")
                raise InvalidInputError(f"There is no column {name!r} to rename here; there are {here}.{tip}")

    def _missing_columns(self, missing: Mapping[str, str]) -> str:
        """Return the error for missing columns."""
        a_column = "the columns" if len(missing) > 1 else "a column"
        called = ", ".join(map(repr, missing.values()))
        there = listed(self.columns, MAX_NAMES_SHOWN, ", ")
        error = f"{self.path} must have {a_column} {called}; its columns are {there}."
        is_sales_file = {column.lower() for column in self.columns} >= set(SALES_COLUMNS)
        if is_sales_file and "stock" in missing and "units" not in self.places:
            return f"{error} It looks like a file for `record`."
        near = nearest_name(next(iter(missing.values())), self._free) if len(missing) == 1 else ""
        return f"{error}{near} {self._how_to_name(missing)}"

    def _how_to_name(self, missing: Mapping[str, str]) -> str:
        """Return what to do about missing columns."""
        it_is = "they are" if len(missing) > 1 else "it is"
        if not self.has_option and "group" not in missing:
            return f"Name {'them' if len(missing) > 1 else 'it'} so in the header."
        options = " ".join("--group NAME" if name == "group" else f"--column {name}=NAME" for name in missing)
        return f"Say what {it_is} called there: {options}.{self.hint if 'date' in missing else ''}"


@functools.lru_cache(KEPT_NAMES)  # each column is compared with each name that is asked for
def plain_name(name: str) -> str:
    """Return a column's name without capitals, what joins its words, and what cannot be seen.

    Examples
    --------
    >>> from driftmdp.inventory.column_names import plain_name
    >>> plain_name("In stock"), plain_name("in_stock")
    ('instock', 'instock')
    """
    return re.sub(r"[\s_-]+", "", as_seen(name).lower())


def _means(column: str, name: str) -> bool:
    """Return whether a column's name means one of ours in some language."""
    words = GUESSES.get(name, ())
    if not words:
        return False
    if folded(column) in words:
        return True
    two = {folded(word) for word in column.split()}
    (rest, *more) = two - SOLD or {""}
    return name == "units" and len(two) == 2 and not more and rest in (*words, name)


@functools.lru_cache(KEPT_NAMES)
def folded(name: str) -> str:
    """Return a name without capitals, accents and signs, as the table of guesses has it.

    Examples
    --------
    >>> from driftmdp.inventory.column_names import folded
    >>> folded("Art.-Nr."), folded("Ilość")
    ('artnr', 'ilosc')
    """
    apart = unicodedata.normalize("NFKD", name.lower().replace("ł", "l"))
    return re.sub(r"[\W_]+", "", "".join(c for c in apart if not unicodedata.combining(c)))
