"""The store of a bucket's state: a head, and pages by number; Spark's state store or a dict."""

from __future__ import annotations

from typing import Protocol


class Store(Protocol):
    def head(self) -> bytes | None: ...

    def put_head(self, head: bytes) -> None: ...

    def page(self, number: int) -> bytes: ...

    def put_page(self, number: int, content: bytes) -> None: ...

    def drop_page(self, number: int) -> None: ...


class Memory:
    """A store in this process, for tests and for reading a checkpoint once."""

    def __init__(self, head: bytes | None = None, pages: dict[int, bytes] | None = None) -> None:
        self._head = head
        self.pages = dict(pages or {})

    def head(self) -> bytes | None:
        return self._head

    def put_head(self, head: bytes) -> None:
        self._head = head

    def page(self, number: int) -> bytes:
        return self.pages[number]

    def put_page(self, number: int, content: bytes) -> None:
        self.pages[number] = content

    def drop_page(self, number: int) -> None:
        del self.pages[number]
