"""Checks of a manifest and of a session, which may come from another user."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from driftmdp.experiments.spec import CurveOptions, ReportOptions, Seed, Spec


class _Form(BaseModel):
    """A form that checks the named keys and allows others."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class _Problem(_Form):
    id: str
    name: str
    label: str
    parameters: dict[str, Any]
    varied: dict[str, Any]


class _Agent(_Problem):
    base: str


class _Manifest(_Form):
    name: str
    spec: Spec
    seeds: Annotated[list[Seed], Field(min_length=1)]
    problems: Annotated[list[_Problem], Field(min_length=1)]
    agents: Annotated[list[_Agent], Field(min_length=1)]
    cells: list[Annotated[list[str], Field(min_length=3, max_length=3)]]  # id, problem's, agent's
    versions: dict[str, str]
    revision: str | None

    @model_validator(mode="after")
    def _known(self) -> Self:
        problems, agents = {one.id for one in self.problems}, {one.id for one in self.agents}
        if not all(problem in problems and agent in agents for _, problem, agent in self.cells):
            raise ValueError("has a cell of an unknown problem or agent")
        return self


SESSION: dict[str, Any] = {"began": str, "seconds": int | float, "done": int, "failed": int}
SESSION |= {"engine": str, "workers": int, "machine": dict}
MACHINE = {"system": str, "processor": str, "cores": int, "python": str}


def is_manifest(body: Any) -> bool:
    """Return whether a manifest has everything that is read from it."""
    try:
        _Manifest.model_validate(body)
    except (ValidationError, RecursionError):
        return False
    # Defaults are written down too.
    forms: dict[str, type[BaseModel]] = {"curve": CurveOptions, "report": ReportOptions}
    return all(body["spec"].get(key, {}).keys() >= form.model_fields.keys() for key, form in forms.items())


def is_session(body: Any) -> bool:
    """Return whether the facts of a session have everything that is read from them."""
    return _has_types(body, SESSION) and _has_types(body["machine"], MACHINE)


def _has_types(body: Any, types: Mapping[str, Any]) -> bool:
    return isinstance(body, dict) and all(isinstance(body.get(key), kind) for key, kind in types.items())
