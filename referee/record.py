"""Immutable records that are cheap to import.

``typing.NamedTuple`` costs more to import than all the rules together, and every bot pays for it at its start. ``NamedTuple``
here is the same thing for the type checker and a plain ``collections.namedtuple`` at run time.
"""

from collections import namedtuple

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _RecordMeta(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = list(body.pop("__annotations__", None) or _fields(body))
            defaults = [body.pop(field) for field in fields if field in body]
            record = namedtuple(name, fields, defaults=defaults, module=body.get("__module__"))
            body.pop("__classcell__", None)
            body["__slots__"] = ()
            return type(name, (record,), body)

    def _fields(body):
        """The annotated names where the interpreter keeps annotations lazily (Python 3.14 on)."""
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(body)
        return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF) if annotate else ()

    class NamedTuple(metaclass=_RecordMeta):
        """Base of a record: annotated names become its fields, in order; values become defaults."""
