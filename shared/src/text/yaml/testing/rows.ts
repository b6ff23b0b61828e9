/** YAML texts on which parsers disagree. */

/** Scalars, and other nodes in their place, that parsers of YAML resolve differently. */
// biome-ignore format: a table
export const scalarRows: readonly string[] = [
  "yes", "Yes", "yEs", "on", "off", "y", "N", "true", "TRUE", "tRUE", "null", "Null", "~", "nULL", "<<", "=", "''",
  '""', "0", "-0", "+0", "00", "0777", "010", "08", "0o17", "0O17", "0o8", "0b11", "0B11", "-0b11", "0b-11", "0b+1",
  "0b2", "0x1F", "0X1f", "-0x10", "0x", "0xg", "1_000", "_1", "1__0_", "-_1", "0_7", "0x_f", "+5", "--5", "+-5",
  "1_000.5", "._5", ".5_0", ".5_", ".5__0", ".5e1_0", ".5e400", "1.0", "1.", ".5", "-.5", "+.5", "1.5e3", "1e3",
  "1E+3", "1e-7", "1e400", "-1e400", "1e-400", "1e", "e1", "1.2.3", "-0.0", "inf", "nan", "Infinity", "0x1p-2",
  "1e21", "1e20", "123456789.123456789", ".", "+", "9007199254740991", "9007199254740993", "-9007199254740993",
  "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
  "-9223372036854775808", "-9223372036854775809", "12345678901234567890", "0xffffffffffffffff",
  "0x10000000000000000", "0777777777777777777777", "+9223372036854775808", "0.1e-5", "1234567.0", "2024-05-01",
  "2024-5-1 1:2:3", "2024-05-01T10:00:00Z", "12:30:45", "190:20:30", "1:20", "12:30:45.5", "1,000", "5%", "1.5Gi",
  "!!int 5", "!!int '5'", "!!str 5", "!!str", "!!float 5", "!!float 5.5", "!!bool yes", "!!null ''", "!!null",
  "!!int 1_0", "! 5", "! '5'", "! 'yes'", "!custom 5", "!custom", "!!binary aGk=", "!!timestamp 2024-01-01",
  "!!float 0x10", "!!set 5", "!<tag:yaml.org,2002:int> 5", "!!foo bar", '"\\u00e9\\x41\\n"', '"\\U0001F600"',
  "'it''s'", "a # c", "a#c", "'#'", "a%", "&a b", "a:b", "-a", "[1, yes, ~]", "{a: 1, b}", "[a, ]", "{a: 1,}",
  "{a:1}", '{"a":1}', "[a: 1]", "[]", "{}", "[[], {}]", "{? a: b}", "!!map {a: 1}", "!!seq [a]", "!!str {a: 1}",
  "!!null [a]", "{a: 1, a: 2}", "é", "日本", "a\u00a0b",
];

/** What Go rejects in the place of a scalar. */
// biome-ignore format: a table
export const brokenRows: readonly string[] = [
  ".inf", "-.INF", "+.Inf", ".nan", "!!int x", "!!int 5.5", "!!bool 1", "!!null x", "!!int", "!!binary aGk",
  "!!timestamp x", "!!float 12345678901234567890", "!!float .inf", '"\\ud800"', "@a", "`a", "%a", "*nowhere", "- a",
  "a: b", "[a", "{a", "'a", '"a', '"\\q"', "!!merge <<", "'a' b", "[a] b", "{a: b: c}", "[,]", "&a *a", "&a &b c",
  "!!str !!int 5", "[!!str]", "[:a]", "|x", "\0", "\x7f",
];

/** What Go rejects and we accept because the meaning is clear; nearly all are JSON texts. */
export const lenientRows: readonly string[] = ['"a\\/b"', '"\\ud83d\\ude00"'];

/** What Go accepts and we reject, because the package finds no structure in it, or another one. */
// biome-ignore format: a table
export const rejectedRows: readonly string[] = [
  "[?a]", "[!a, b]", "[a:]", "{a:, b: c}", "a\u2028  b", "[-]", "{}#", '"a\nb"', "[\n1]", "&x a\n*x: 1",
  '"a\\\n\n  b"',
];

/** Keys that are not strings, and one that is special in JavaScript. */
// biome-ignore format: a table
export const keyRows: readonly string[] = [
  "yes", "n", "1", "010", "-0", "1.5", "1e9", "1e20", "0.00001", "0.0001", "-1.0", "123456.7", "1234567.0",
  "2024-01-01", ".inf", "-.inf", ".nan", "123456789.5", "1e39", "-0.0", "18446744073709551616",
  "9223372036854775807", "__proto__", "constructor", "!!str 1", "!!int '1'", "'1'", "&z k", "'<<'", '"<<"',
  "!!str <<", "a b", "1e-46", "0.1", "16777217.0", "3.4028235e38",
];

/** Whole documents with merges, anchors, line ends and other parts of a document. */
// biome-ignore format: a table
export const documentRows: readonly string[] = [
  "", "\n", "# c\n", "---\n", "--- a\n", "---\n---\na: 1\n", "a: 1\n---\n[", "a: 1\n...\n[", "\ufeffa: 1\n",
  "%YAML 1.1\n---\na: 1\n", "a: 1\na: 2\n", "a: {b: 1}\na: {c: 2}\n", "yes: 1\ntrue: 2\n", "a: 1\n<<: {a: 2}\n",
  "<<: {a: 2}\na: 1\n", "<<: [{a: 1}, {a: 2, b: 3}]\n", "x: &x {a: 1}\ny:\n  <<: *x\n  b: 2\n",
  "x: &x {a: 1}\ny:\n  <<: [*x, {a: 2, c: 3}]\n", "x: &x {a: {b: 1}}\ny:\n  <<: *x\n  a: {c: 2}\n",
  "x: &x {<<: {a: 1}}\ny: {<<: *x}\n", "!!merge a: {b: 1}\n", "! <<: {a: 1}\n", "!!merge <<: {a: 1}\n", "<<: []\n",
  "<<: {}\n", "x: &x 1\ny: &x 2\nz: *x\n", "x: &x\n  y: &y 1\nz: *x\nw: *y\n", "&a a: *a\n",
  "a: 1\r\nb: |\r\n  x\r\n  y\r\n", "a: 1\rb: 2\r", "a: one\u0085b: 2\n", 'a: "x\r\n  y"\n', "a: |\n  x\r  y\n",
  "a: x\n\n  y\n\n\n  z\n", "a: |\n  x\n   y\n\n  z\n\nb: 1\n", "a: >\n  x\n  y\n\n  z\n   w\n  v\n",
  "a: |2\n    x\n", "a: |-\n  x\n\n\nb: >+\n  y\n\n", "a: |\n", "a: {\n  b: 1\n}\n", "a: [\n  1,\n  2\n  ]\n",
  "? a\n: b\n", "? a\n", "? |\n  x\n: 1\n", "- - a\n  - b\n- - c\n", "-\n", "a:\n- b\n- c\n", "a:\tb\n", "a: b\t\n",
  "a: b\t# c\n", "a: [1,\t2]\n", "a:\n  # c\n  b: 1\n# d\nc: 2\n", "a: 'x\n\n  y'\n", 'a: "x\\\n  y"\n', "a: 1 \n",
];

/** Whole documents that Go rejects. */
// biome-ignore format: a table
export const brokenDocumentRows: readonly string[] = [
  "<<: 1\n", "<<:\n", "<<: [1]\n", "x: &x 1\ny: {<<: *x}\n", "a: &a {b: *a}\n", "a: &a [*a]\n", "~: 1\n",
  "18446744073709551615: 1\n", "? {a: 1}\n: 2\n", "? [a]\n: 2\n", "a: b: c\n", "a\nb: c\n", "a: 1\n  b: 2\n",
  "a:\n\tb: 1\n", "- a\nb: 1\n", "\tb: 1\n", "a: 1\n b: 2\n", "%YAML 1.2\n---\na: 1\n", "%a\n---\na: 1\n", "%a: 1\n",
  "...\na: 1\n", "a: @x\n", "a: 1\n!!x", "a: |x\n", "[a, b\n", "a: 'b\n", "!x!y a\n",
];
