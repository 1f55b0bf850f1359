"""Makes the message types of the starters from the JSON Schema of the protocol, for the languages with types.

``python -m referee.starters.message_types`` writes ``LANGUAGE/messages.SUFFIX.template`` from ``docs/protocol.schema.json``. A game's own
values have the types ``Settings`` and ``State`` of the game's part; they are written by hand, because the schema leaves these values open.
Shapes for spectators (``draw``) are left out where they would need many types.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.players.languages import named

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = Path(__file__).parents[2] / "docs" / "protocol.schema.json"


class Field(NamedTuple):
    """A field of a message. ``kind`` is "string", "integer", "number", "object", "shapes", or "one" or "many" of the type ``of``.

    ``constant`` is its only value. A ``nullable`` field can be null; an ``optional`` one can be left out.
    """

    name: str
    kind: str
    doc: str = ""
    of: str = ""
    constant: Any = None
    nullable: bool = False
    optional: bool = False


class Type(NamedTuple):
    """A message, or a part of one. ``is_read`` is true for what a bot reads."""

    name: str
    doc: str
    fields: tuple[Field, ...]
    is_read: bool


def types(schema: dict[str, Any]) -> list[Type]:
    """Return the types of a schema's messages, each after those that it holds."""
    found: list[Type] = []
    for direction in ("to_bot", "from_bot"):
        definitions = schema[direction]["$defs"]
        names = [choice["$ref"].rpartition("/")[2] for choice in schema[direction]["anyOf"]]
        for name in names:
            _add(name, definitions, found, is_read=direction == "to_bot")
    return found


def _add(name: str, definitions: dict[str, Any], found: list[Type], *, is_read: bool) -> None:
    if any(one.name == name for one in found):
        return
    record = definitions[name]
    fields = tuple(_field(key, each, key not in record.get("required", ())) for key, each in record["properties"].items())
    for field in fields:
        if field.of:
            _add(field.of, definitions, found, is_read=is_read)
    found.append(Type(name, record.get("description", "").replace("`", ""), fields, is_read))


def _field(name: str, record: dict[str, Any], optional: bool) -> Field:  # noqa: FBT001 - private
    doc = record.get("description", "").replace("`", "")
    choices = record.get("anyOf", [])
    nullable = any(choice.get("type") == "null" for choice in choices)
    if choices:
        record = next(choice for choice in choices if choice.get("type") != "null")
    constant = record.get("const")
    if constant is None and record.get("minimum") is not None and record["minimum"] == record.get("maximum"):
        constant = record["minimum"]
    kind, of = record.get("type", ""), ""
    if "$ref" in record:
        kind, of = "one", record["$ref"].rpartition("/")[2]
    elif kind == "array":
        kind, of = ("many", record["items"]["$ref"].rpartition("/")[2]) if "$ref" in record["items"] else ("shapes", "")
    return Field(name, kind, doc, of, constant, nullable, optional)


def _title(name: str) -> str:
    return name[0].upper() + name[1:]


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


def _noted(field: Field, mark: str = "//") -> str:
    return f" {mark} {field.doc}" if field.doc else ""


def _plain(one: Type) -> list[Field]:
    """The fields that a record keeps: all but the message's type and shapes."""
    return [field for field in one.fields if field.name != "type" and field.kind != "shapes"]


def _written(one: Type) -> list[Field]:
    """The fields that a bot chooses in a message that it writes."""
    return [field for field in _plain(one) if field.constant is None]


def _pieces(one: Type) -> str:
    """The beginning of a message that a bot writes: its constant fields."""
    constants = [f"{json.dumps(field.name)}:{json.dumps(field.constant)}" for field in one.fields if field.constant is not None]
    return "{" + ",".join(constants)


def _key(field: Field) -> str:
    return f',"{field.name}":'


def typescript(found: list[Type]) -> list[str]:
    """The types as interfaces."""
    kinds = {"string": "string", "integer": "number", "number": "number", "shapes": "unknown[]"}
    lines: list[str] = []
    for one in found:
        lines += ["", f"// {one.doc}", f"interface {one.name} {{"]
        for field in one.fields:
            objects = {"settings": "Settings", "state": "State", "move": "GameMove"}
            kind = kinds.get(field.kind) or objects.get(field.name, "unknown")
            kind = {"one": field.of, "many": f"{field.of}[]"}.get(field.kind, kind)
            kind = json.dumps(field.constant) if field.constant is not None else kind
            lines.append(f"  {field.name}{'?' * field.optional}: {kind}{' | null' * field.nullable};{_noted(field)}")
        lines.append("}")
    return lines


def go(found: list[Type]) -> list[str]:
    """The types as structs with tags."""
    kinds = {"string": "string", "integer": "int64", "number": "float64", "object": "any", "shapes": "[]any"}
    objects = {"settings": "Settings", "state": "State", "result": "map[string]any"}
    lines: list[str] = []
    for one in found:
        rows = []
        for field in one.fields:
            kind = objects.get(field.name) or kinds.get(field.kind, field.of)
            kind = f"[]{kind}" if field.kind == "many" else f"*{kind}" if field.nullable and field.kind == "number" else kind
            tag = f'`json:"{field.name}{",omitempty" * field.optional}"`'
            rows.append((_title(field.name), kind, tag, _noted(field)))
        # As gofmt aligns them: a column of remarks ends at a row without one.
        wide = [max(len(row[place]) for row in rows) for place in range(2)]
        lines += ["", f"// {one.name}: {one.doc}", f"type {one.name} struct {{"]
        for has_note, run in itertools.groupby(rows, lambda row: bool(row[3])):
            group = list(run)
            longest = max(len(row[2]) for row in group) if has_note else 0
            lines += [f"\t{name:<{wide[0]}} {kind:<{wide[1]}} {tag:<{longest}}{note}" for name, kind, tag, note in group]
        lines.append("}")
    return lines


def java(found: list[Type]) -> list[str]:
    """The types as records; those that a bot reads are made from JSON, those that it writes make JSON."""
    kinds = {"string": "String", "integer": "long", "number": "double", "object": "String"}
    objects = {"settings": "Settings", "state": "State", "result": "Json"}
    read = {"string": ".text()", "integer": ".integer()", "number": ".number()"}
    lines: list[str] = []
    for one in found:
        parts = _plain(one) if one.is_read else _written(one)
        typed = []
        for field in parts:
            kind = objects.get(field.name) or kinds.get(field.kind, field.of)
            kind = f"List<{kind}>" if field.kind == "many" else "Double" if field.nullable and kind == "double" else kind
            typed.append(f"{kind} {field.name}")
        lines += ["", f"// {one.doc}", f"record {one.name}({', '.join(typed)}) {{"]
        if one.is_read:
            values = []
            for field in parts:
                value = f'json.get("{field.name}")'
                if field.name in objects and field.name != "result":
                    value = f"{objects[field.name]}.of({value})"
                elif field.kind == "one":
                    value = f"{field.of}.of({value})"
                elif field.kind == "many":
                    value += f".list().stream().map({field.of}::of).toList()"
                elif field.name != "result":
                    value += ".numberOrNull()" if field.nullable else read[field.kind]
                values.append(value)
            lines += [f"    static {one.name} of(Json json) {{", f"        return new {one.name}({', '.join(values)});", "    }"]
        else:
            lines += ["    String json() {", f"        String text = {json.dumps(_pieces(one))};"]
            for field in parts:
                value = f"Json.quote({field.name})" if field.kind == "string" else field.name
                condition = f"if ({field.name} != null) " if field.optional else ""
                lines.append(f"        {condition}text += {json.dumps(_key(field))} + {value};")
            lines += ['        return text + "}";', "    }"]
        lines.append("}")
    return lines


#: In C# no member has the name of its class.
_CSHARP_NAMES = {("Turn", "turn"): "Number", ("Move", "move"): "Answer"}


def csharp(found: list[Type]) -> list[str]:
    """The types as classes; those that a bot reads are made from JSON, those that it writes make JSON."""
    kinds = {"string": "string", "integer": "long", "number": "double", "object": "string"}
    objects = {"settings": "Settings", "state": "State", "result": "Json"}
    read = {"string": ".Text", "integer": ".Integer", "number": ".Number"}
    lines: list[str] = []
    for one in found:
        lines += ["", f"// {one.doc}", f"class {one.name}", "{"]
        parts = _plain(one) if one.is_read else _written(one)
        values = []
        for field in parts:
            name = _CSHARP_NAMES.get((one.name, field.name), _title(field.name))
            kind = objects.get(field.name) or kinds.get(field.kind, field.of)
            kind = f"List<{kind}>" if field.kind == "many" else f"{kind}?" if field.nullable and field.kind == "number" else kind
            lines.append(f"    public {kind} {name};{_noted(field)}")
            value = f'json["{field.name}"]'
            if (field.name in objects and field.name != "result") or field.kind == "one":
                value = f"{kind}.Of({value})"
            elif field.kind == "many":
                value += f".List.ConvertAll({field.of}.Of)"
            elif field.name != "result" and one.is_read:
                value += ".NumberOrNull" if field.nullable else read[field.kind]
            values.append(f"{name} = {value}")
        if one.is_read:
            lines += ["", f"    public static {one.name} Of(Json json)", "    {", f"        return new {one.name}", "        {"]
            lines += [f"            {value}," for value in values] + ["        };", "    }"]
        else:
            lines += ["", "    public string ToJson()", "    {", f"        string text = {json.dumps(_pieces(one))};"]
            for field in parts:
                name = _CSHARP_NAMES.get((one.name, field.name), _title(field.name))
                value = f"Json.Quote({name})" if field.kind == "string" else name
                condition = f"if ({name} != null) " if field.optional else ""
                lines.append(f"        {condition}text += {json.dumps(_key(field))} + {value};")
            lines += ['        return text + "}";', "    }"]
        lines.append("}")
    return lines


def cpp(found: list[Type]) -> list[str]:
    """The types as structs; those that a bot reads are made from JSON, those that it writes make JSON."""
    kinds = {"string": "std::string", "integer": "long long", "number": "double", "object": "std::string"}
    objects = {"settings": "Settings", "state": "State", "result": "Json"}
    read = {"string": ".text()", "integer": ".integer()", "number": ".number()"}
    lines: list[str] = []
    for one in found:
        lines += ["", f"// {one.doc}", f"struct {one.name} {{"]
        parts = _plain(one) if one.is_read else _written(one)
        body = []
        for field in parts:
            kind = objects.get(field.name) or kinds.get(field.kind, field.of)
            kind = f"std::vector<{kind}>" if field.kind == "many" else kind
            kind = f"std::optional<{kind}>" if (field.nullable and field.kind == "number") or field.optional else kind
            lines.append(f"    {kind} {field.name}{{}};{_noted(field)}")
            value = f'json["{field.name}"]'
            if (field.name in objects and field.name != "result") or field.kind == "one":
                value = f"{kind}::of({value})"
            elif field.kind == "many":
                body.append(f"        for (const Json &each : {value}.list) made.{field.name}.push_back({field.of}::of(each));")
                continue
            elif field.name != "result" and one.is_read:
                value += ".number_or_none()" if field.nullable else read[field.kind]
            body.append(f"        made.{field.name} = {value};")
        if one.is_read:
            lines += [
                "",
                f"    static {one.name} of(const Json &json) {{",
                f"        {one.name} made;",
                *body,
                "        return made;",
                "    }",
            ]
        else:
            lines += ["", "    std::string json() const {", f"        std::string text = {json.dumps(_pieces(one))};"]
            for field in parts:
                name = f"*{field.name}" if field.optional else field.name
                value = f"Json::quote({name})" if field.kind == "string" else f"std::to_string({name})" if field.kind == "integer" else name
                condition = f"if ({field.name}) " if field.optional else ""
                lines.append(f"        {condition}text += {json.dumps(_key(field))} + {value};")
            lines += ['        return text + "}";', "    }"]
        lines.append("};")
    return lines


def c(found: list[Type]) -> list[str]:
    """The types as structs with functions that read or write them. A list stays JSON; a limit that is null is INFINITY."""
    kinds = {"string": "const char *", "integer": "long long ", "number": "double ", "object": "const char *"}
    objects = {"settings": "Settings ", "state": "State ", "result": "const Json *"}
    read = {"string": "json_text", "integer": "json_integer", "number": "json_number"}
    lines: list[str] = []
    for one in found:
        lines += ["", f"// {one.doc}", "typedef struct {"]
        parts = _plain(one) if one.is_read else _written(one)
        body = []
        for field in parts:
            kind = objects.get(field.name) or kinds.get(field.kind, f"{field.of} ")
            kind = "const Json *" if field.kind == "many" else kind
            note = f" // each is a {field.of}" if field.kind == "many" else _noted(field)
            lines.append(f"    {kind}{field.name};{note}")
            value = f'json_get(json, "{field.name}")'
            target = f"made->{field.name}"
            if field.name in ("settings", "state") or field.kind == "one":
                body.append(f"    read_{_snake(kind.strip())}({value}, &{target});")
            elif field.kind == "many" or field.name == "result":
                body.append(f"    {target} = {value};")
            elif one.is_read:
                body.append(f"    {target} = {read[field.kind]}({value});")
        lines.append(f"}} {one.name};")
        if one.is_read:
            lines += ["", f"static void read_{_snake(one.name)}(const Json *json, {one.name} *made) {{", *body, "}"]
        else:
            lines += ["", f"static void write_{_snake(one.name)}(const {one.name} *message) {{"]
            lines.append(f"    fputs({json.dumps(_pieces(one))}, stdout);")
            for field in parts:
                name = f"message->{field.name}"
                key = json.dumps(_key(field))
                write = {"string": f"write_quoted({name});", "object": f"fputs({name}, stdout);"}.get(
                    field.kind, f'printf("%lld", {name});'
                )
                indent = "    "
                if field.optional:
                    lines.append(f"    if ({name} != NULL) {{")
                    indent = "        "
                lines += [f"{indent}fputs({key}, stdout);", f"{indent}{write}"] + ["    }"] * field.optional
            lines += ['    fputs("}\\n", stdout);', "    fflush(stdout);", "}"]
    return lines


def rust(found: list[Type]) -> list[str]:
    """The types as structs; those that a bot reads are made from JSON, those that it writes make JSON."""
    kinds = {"string": "String", "integer": "i64", "number": "f64", "object": "String"}
    objects = {"settings": "Settings", "state": "State", "result": "Json"}
    read = {"string": ".text()", "integer": ".integer()", "number": ".number()"}
    lines: list[str] = []
    for one in found:
        lines += ["", f"/// {one.doc}", f"struct {one.name} {{"]
        parts = _plain(one) if one.is_read else _written(one)
        body = []
        for field in parts:
            name = f"r#{field.name}" if field.name in ("match", "move") else field.name
            kind = objects.get(field.name) or kinds.get(field.kind, field.of)
            kind = f"Vec<{kind}>" if field.kind == "many" else kind
            kind = f"Option<{kind}>" if (field.nullable and field.kind == "number") or field.optional else kind
            lines.append(f"    {name}: {kind},{_noted(field)}")
            value = f'json.get("{field.name}")'
            if (field.name in objects and field.name != "result") or field.kind == "one":
                value = f"{kind}::of({value})"
            elif field.kind == "many":
                value += f".list().iter().map({field.of}::of).collect()"
            elif one.is_read:
                value += ".clone()" if field.name == "result" else ".number_or_none()" if field.nullable else read[field.kind]
            body.append(f"            {name}: {value},")
        lines += ["}", "", f"impl {one.name} {{"]
        if one.is_read:
            lines += [f"    fn of(json: &Json) -> {one.name} {{", f"        {one.name} {{", *body, "        }", "    }"]
        else:
            lines += ["    fn json(&self) -> String {", f"        let mut text = String::from({json.dumps(_pieces(one))});"]
            for field in parts:
                name = f"self.r#{field.name}" if field.name in ("match", "move") else f"self.{field.name}"
                push = "text += &quote(&{});" if field.kind == "string" else "text += &{}.to_string();"
                key = f"text += {json.dumps(_key(field))};"
                if field.optional:
                    lines += [
                        f"        if let Some(value) = &{name} {{",
                        f"            {key}",
                        f"            {push.format('value')}",
                        "        }",
                    ]
                else:
                    lines += [f"        {key}", f"        {push.format(name)}"]
            lines += ['        text + "}"', "    }"]
        lines.append("}")
    return lines


EMITTERS: dict[str, Callable[[list[Type]], list[str]]] = {
    "typescript": typescript,
    "go": go,
    "java": java,
    "csharp": csharp,
    "cpp": cpp,
    "c": c,
    "rust": rust,
}


def text(language: str, schema: dict[str, Any]) -> str:
    """Return the part of a starter that holds the message types of a language."""
    head = "// ---- The messages of protocol 1, made from docs/protocol.schema.json ----"
    return "\n".join([head, *EMITTERS[language](types(schema))]) + "\n"


def path(language: str) -> Path:
    """Return the template that holds the message types of a language."""
    return Path(__file__).parent / language / f"messages{named(language).suffix}.template"


if __name__ == "__main__":
    for each in EMITTERS:
        path(each).parent.mkdir(exist_ok=True)
        path(each).write_text(text(each, json.loads(SCHEMA.read_text("utf-8"))), "utf-8")
