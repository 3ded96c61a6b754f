//! The methods.

use crate::harn::builtins::functions::len;
use crate::harn::builtins::{Method, Run, Signature, dicts, lists, orders, strings, text};

/// The fewest and the most arguments of a method, and what it does.
type Entry = Option<(u8, u8, Run)>;

const fn row(name: &'static str, [string, list, dict]: [Entry; 3]) -> Method {
    Method {
        name,
        string: signature(name, string),
        list: signature(name, list),
        dict: signature(name, dict),
    }
}

const fn signature(name: &'static str, entry: Entry) -> Option<Signature> {
    match entry {
        Some((least, most, run)) => Some(Signature {
            name,
            least,
            most,
            run,
        }),
        None => None,
    }
}

const fn string(name: &'static str, least: u8, most: u8, run: Run) -> Method {
    row(name, [Some((least, most, run)), None, None])
}

const fn list(name: &'static str, least: u8, most: u8, run: Run) -> Method {
    row(name, [None, Some((least, most, run)), None])
}

const fn dict(name: &'static str, least: u8, most: u8, run: Run) -> Method {
    row(name, [None, None, Some((least, most, run))])
}

/// Every method, by what strings, lists and dicts do.
pub(crate) static METHODS: &[Method] = &[
    row(
        "len",
        [Some((0, 0, len)), Some((0, 0, len)), Some((0, 0, len))],
    ),
    row(
        "count",
        [Some((0, 0, len)), Some((0, 0, len)), Some((0, 0, len))],
    ),
    row(
        "empty",
        [
            Some((0, 0, strings::is_empty)),
            Some((0, 0, lists::is_empty)),
            Some((0, 0, dicts::is_empty)),
        ],
    ),
    row(
        "contains",
        [
            Some((1, 1, strings::contains)),
            Some((1, 1, lists::contains)),
            None,
        ],
    ),
    string("starts_with", 1, 1, strings::starts_with),
    string("ends_with", 1, 1, strings::ends_with),
    string("lines", 0, 0, strings::lines),
    string("split", 1, 1, strings::split),
    string("trim", 0, 0, strings::trim),
    string("trim_start", 0, 0, strings::trim_start),
    string("trim_end", 0, 0, strings::trim_end),
    string("replace", 2, 2, strings::replace),
    string("lower", 0, 0, strings::lower),
    string("to_lower", 0, 0, strings::lower),
    string("upper", 0, 0, strings::upper),
    string("to_upper", 0, 0, strings::upper),
    string("chars", 0, 0, strings::chars),
    string("char_at", 1, 1, strings::char_at),
    string("substring", 1, 2, strings::substring),
    row(
        "slice",
        [
            Some((1, 2, strings::slice)),
            Some((1, 2, lists::slice)),
            None,
        ],
    ),
    row(
        "index_of",
        [
            Some((1, 1, strings::index_of)),
            Some((1, 1, lists::index_of)),
            None,
        ],
    ),
    string("last_index_of", 1, 1, strings::last_index_of),
    string("repeat", 1, 1, strings::repeat),
    row(
        "reversed",
        [
            Some((0, 0, strings::reversed)),
            Some((0, 0, lists::reversed)),
            None,
        ],
    ),
    string("pad_left", 1, 2, strings::pad_left),
    string("pad_right", 1, 2, strings::pad_right),
    list("push", 1, 1, lists::push),
    row(
        "filter",
        [
            None,
            Some((1, 1, lists::filter)),
            Some((1, 1, dicts::filter)),
        ],
    ),
    list("none", 0, 1, lists::none),
    list("any", 1, 1, lists::any),
    list("all", 1, 1, lists::all),
    list("every", 1, 1, lists::all),
    list("map", 1, 1, lists::map),
    list("flat_map", 1, 1, lists::flat_map),
    list("reduce", 2, 2, lists::reduce),
    list("find", 1, 1, lists::find),
    list("find_index", 1, 1, lists::find_index),
    list("partition", 1, 1, lists::partition),
    list("group_by", 1, 1, orders::group_by),
    list("count_by", 1, 1, orders::count_by),
    list("tally", 0, 0, orders::tally),
    list("first", 0, 0, lists::first),
    list("last", 0, 0, lists::last),
    list("sorted", 0, 0, orders::sorted),
    list("sorted_by", 1, 1, orders::sorted_by),
    list("join", 0, 1, text::join),
    list("enumerate", 0, 0, lists::enumerate),
    list("zip", 1, 1, lists::zip),
    list("take", 1, 1, lists::take),
    list("skip", 1, 1, lists::skip),
    list("take_while", 1, 1, lists::take_while),
    list("drop_while", 1, 1, lists::drop_while),
    list("unique", 0, 0, orders::unique),
    list("compact", 0, 0, lists::compact),
    list("flatten", 0, 0, lists::flatten),
    list("chunks", 1, 1, lists::chunks),
    list("windows", 1, 2, lists::windows),
    list("sum", 0, 0, lists::sum),
    list("min", 0, 0, orders::min),
    list("max", 0, 0, orders::max),
    list("min_by", 1, 1, orders::min_by),
    list("max_by", 1, 1, orders::max_by),
    dict("keys", 0, 0, dicts::keys),
    dict("values", 0, 0, dicts::values),
    dict("entries", 0, 0, dicts::entries),
    dict("has", 1, 1, dicts::has),
    dict("get", 1, 2, dicts::get),
    dict("merge", 1, 1, dicts::merge),
    dict("map_values", 1, 1, dicts::map_values),
    dict("map_keys", 1, 1, dicts::map_keys),
];

/// What to use instead of a method that is not offered, because dialects do not agree
/// about what it does. (harn.md, section 0.1.)
pub(crate) fn removed(name: &str) -> Option<&'static str> {
    Some(match name {
        "pop" => "`slice(0, -1)` gives a copy without the last item, `last()` that item",
        "sort" => "`sorted()` gives a sorted copy",
        "sort_by" => "`sorted_by(f)` gives a sorted copy",
        "reverse" => "`reversed()` gives a reversed copy",
        "remove" => "`filter(f)` gives a copy with less in it",
        _ => return None,
    })
}
