"""Immutable records that are cheap to import.

``typing.NamedTuple`` and ``collections.namedtuple`` cost more to import than all the rules together, and every bot pays for that at its
start. ``NamedTuple`` here is ``typing.NamedTuple`` for the type checker, and at run time a tuple class with the same methods.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    try:
        from _collections import _tuplegetter as _getter
    except ImportError:
        from operator import itemgetter

        def _getter(index, doc):
            return property(itemgetter(index), doc=doc)

    _new = tuple.__new__

    class _Record(tuple):
        """What all records share."""

        __slots__ = ()
        _fields = ()
        _field_defaults = {}
        #: The defaults, if they are those of the last fields.
        _tail = ()

        def __new__(cls, *args, **given):
            if given or len(args) != len(cls._fields):
                args = cls._completed(args, given)
            return _new(cls, args)

        @classmethod
        def _completed(cls, args, given):
            """The values of all fields from those by place, those by name and the defaults."""
            fields, count = cls._fields, len(args)
            missing = fields[count:]
            # The usual ways: the last fields have defaults, and no name is wrong or double.
            if not given:
                if count < len(fields) and count >= len(fields) - len(cls._tail):
                    return args + cls._tail[count - len(fields) :]
            elif len(missing) <= len(cls._tail):
                for name in given:
                    if name not in missing:
                        break
                else:
                    return args + tuple(map(given.get, missing, cls._tail[-len(missing) :]))
            if len(args) > len(fields):
                raise TypeError(f"{cls.__name__} takes {len(fields)} values, but {len(args)} were given")
            values = {**cls._field_defaults, **dict(zip(fields, args)), **given}
            twice = [name for name in fields[: len(args)] if name in given]
            wrong = twice or [name for name in given if name not in fields] or [name for name in fields if name not in values]
            if wrong:
                raise TypeError(f"{cls.__name__} has a wrong, doubled or missing field: {wrong[0]}")
            return [values[name] for name in fields]

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **given):
            values = dict(zip(self._fields, self))
            values.update(given)
            return _new(type(self), values.values()) if len(values) == len(self) else type(self)(**values)

        def _asdict(self):
            return dict(zip(self._fields, self))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self))})"

        def __getnewargs__(self):
            return tuple(self)

    class _RecordMeta(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.pop("__annotations__", None) or _annotated(body))
            defaults = {field: body.pop(field) for field in fields if field in body}
            getters = {field: _getter(index, f"Field {index}") for index, field in enumerate(fields)}
            tail = tuple(defaults.values()) if tuple(defaults) == fields[len(fields) - len(defaults) :] else ()
            shared = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "_tail": tail, "__match_args__": fields}
            return type(name, (_Record,), {**getters, **body, **shared})

    def _annotated(body):
        """The annotated names where the interpreter keeps annotations lazily (Python 3.14 on)."""
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(body)
        return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF) if annotate else ()

    class NamedTuple(metaclass=_RecordMeta):
        """Base of a record: annotated names become its fields, in order; values become defaults."""
