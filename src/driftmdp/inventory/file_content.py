"""The bytes of a table's file, read once, and what kind of file they are."""

import os
import select
import stat
from pathlib import Path

from driftmdp.errors import InvalidInputError
from driftmdp.files import open_without_waiting

LARGEST_FILE = 1 << 30  # bytes
PIPE_TIMEOUT_SECONDS = 5.0  # to wait for a writer of a named pipe
ZIP = b"PK\x03\x04"  # how an .xlsx file begins, and an .ods
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # an .xls of old, or an .xlsx with a password
_WEB_PAGE = b"<!doctype", b"<html", b"<table", b"<head", b"<meta", b"<style"
_EXCEL_NAMES = {".xlsx", ".xlsm", ".xls"}


def read_content(path: Path) -> bytes:
    """Return the content of a file or pipe: a workbook, or what may be text."""
    try:
        content = _read_once(path)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InvalidInputError(f"{path} must be a CSV file that can be read; {reason}.") from None
    _check_kind(path, content)
    return content


def _check_kind(path: Path, content: bytes) -> None:
    """Refuse what is neither text nor a workbook, and what is not as its name says."""
    begin = content[:64].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    rule = f"{path} must be a CSV file or an Excel file (.xlsx)"
    if content.startswith(b"SQLite format 3"):
        raise InvalidInputError(f"{path} must be a CSV file; it is a database. The database comes first.")
    if content.startswith(_OLE):
        what = "an .xls of older versions, or has a password"
        raise InvalidInputError(f"{rule}; it is {what}. Save it in Excel as .xlsx, without a password.")
    if begin.startswith(_WEB_PAGE):
        what = "a web page, as some programs export tables"
        raise InvalidInputError(f"{rule}; it is {what}. Open it in the spreadsheet and save it as .xlsx.")
    if begin.startswith(b"<?xml"):
        raise InvalidInputError(f"{rule}; it is XML. Open it in the spreadsheet and save it as .xlsx.")
    if path.suffix.lower() in _EXCEL_NAMES and content.strip() and not content.startswith(ZIP):
        advice = f"If it is a CSV file, name it {path.stem}.csv."
        raise InvalidInputError(f"{path} must be an Excel file, as its name says; it is none. {advice}")


def _read_once(path: Path) -> bytes:
    """Return the content of a file or pipe. A pipe can be read only once."""
    with open(path, "rb", opener=open_without_waiting) as file:
        about = os.fstat(file.fileno())
        if stat.S_ISFIFO(about.st_mode):
            content = _read_pipe(file.fileno())
        elif stat.S_ISREG(about.st_mode):
            content = file.read() if about.st_size <= LARGEST_FILE else None
        else:
            raise InvalidInputError(f"{path} must be a CSV file or a pipe; it is a device.")
    if content is None:
        rule = f"{path} must have at most {LARGEST_FILE >> 20} MB"
        raise InvalidInputError(f"{rule}; it has more. Split it, and use part after part.")
    return content


def _read_pipe(descriptor: int) -> bytes | None:
    """Return a pipe's content up to its last writer's end. None means that it is too much."""
    waiting, content = select.poll(), bytearray()
    waiting.register(descriptor, select.POLLIN)
    while len(content) <= LARGEST_FILE:
        waiting.poll(1000 * PIPE_TIMEOUT_SECONDS)
        try:
            part = os.read(descriptor, 1 << 20)
        except BlockingIOError:  # a writer has it open, and wrote nothing yet
            continue
        if not part:
            return bytes(content)
        content += part
    return None
