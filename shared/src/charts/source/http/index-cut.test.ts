import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { indexText } from "../testing/index.ts";
import { IndexCutter } from "./index-cut.ts";
import { parseChartBlock, parseIndexDocument } from "./index-document.ts";
import { readChartEntries } from "./index-entry.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The parts of the charts, when the text arrives in blocks of this size; undefined when it is not split. */
function cut(text: string, pieceBytes = 7): ReadonlyMap<string, Uint8Array> | undefined {
  const whole = bytes(text);
  const charts = new Map<string, Uint8Array>();
  const all: Uint8Array[] = [];
  const cutter = new IndexCutter((name, part) => {
    all.push(part.slice());
    if (name !== undefined) charts.set(name, part.slice());
  });
  let added = 0;
  let isPlain = true;
  for (; isPlain && added < whole.length; added += pieceBytes)
    isPlain = cutter.add(whole.subarray(added, added + pieceBytes));
  isPlain = isPlain && cutter.finish();
  // No byte of the text is lost.
  if (!isPlain) all.push(cutter.rest());
  assert.deepEqual(Buffer.concat(all), Buffer.from(whole.subarray(0, added)));
  return isPlain ? charts : undefined;
}

/** The entries of each part; undefined when the text is not split. */
function readCut(text: string): ReadonlyMap<string, readonly string[] | undefined> | undefined {
  const charts = cut(text);
  if (charts === undefined) return undefined;
  const names = [...charts].map(([name, part]) => {
    const chart = parseChartBlock(name, part);
    return [name, chart?.entries.map(({ version }) => version)] as const;
  });
  return new Map(names);
}

const entry = (version: string): string => `- name: x\n    version: ${version}\n    urls: [x.tgz]`;

describe("splitting an index", () => {
  it("finds the lines of each chart", () => {
    const cut = readCut(indexText({ alpine: ["1.10", "1.9.0"], "b-2": ["0.1.0"] }));

    assert.deepEqual(
      [...(cut ?? [])],
      [
        ["alpine", ["1.10", "1.9.0"]],
        ["b-2", ["0.1.0"]],
      ],
    );
  });

  const plain: readonly (readonly [name: string, text: string])[] = [
    [
      "comments and empty lines",
      `# hello\n\napiVersion: v1\nentries: # here\n\n  # of x\n  x:\n# odd\n  ${entry("1.0.0")}\n\ngenerated: now\n`,
    ],
    ["a document's start", `---\napiVersion: v1\nentries:\n  x:\n  ${entry("1.0.0")}\n`],
    [
      "lists that are indented further",
      `apiVersion: v1\nentries:\n  x:\n    - name: x\n      version: 1.0.0\n`,
    ],
    ["four spaces", `apiVersion: v1\nentries:\n    x:\n    - name: x\n      version: 1.0.0\n`],
    ["quoted names", `apiVersion: v1\nentries:\n  "x":\n  ${entry("1.0.0")}\n`],
    [
      "line ends of Windows",
      `apiVersion: v1\nentries:\n  x:\n  ${entry("1.0.0")}\n`.replaceAll("\n", "\r\n"),
    ],
    ["a byte order mark", `\uFEFFapiVersion: v1\nentries:\n  x:\n  ${entry("1.0.0")}\n`],
    [
      "other keys and lists around",
      `annotations:\n  x: y\nentries:\n  x:\n  ${entry("1.0.0")}\npublicKeys:\n- abc\napiVersion: v1\n`,
    ],
    [
      "values that look like keys",
      `apiVersion: v1\nentries:\n  x:\n  - name: x\n    description: |\n      entries:\n        y:\n\n      z: 1\n    version: 1.0.0\n`,
    ],
    [
      "the same chart twice",
      `apiVersion: v1\nentries:\n  x:\n  ${entry("2.0.0")}\n  x:\n  ${entry("1.0.0")}\n`,
    ],
  ];
  for (const [name, text] of plain) {
    it(`supports ${name}`, () => assert.deepEqual([...(readCut(text) ?? [])], [["x", ["1.0.0"]]]));
  }

  const unusual: readonly (readonly [name: string, text: string])[] = [
    ["flow style", `{apiVersion: v1, entries: {x: [{name: x, version: 1.0.0}]}}`],
    ["entries in flow style", `apiVersion: v1\nentries: {x: []}\n`],
    ["tabs", `apiVersion: v1\nentries:\n  x:\n\t- name: x\n`],
    ["a directive", `%YAML 1.2\n---\napiVersion: v1\nentries:\n`],
    ["two documents", `apiVersion: v1\nentries:\n---\napiVersion: v1\n`],
    ["a name with an escape", `apiVersion: v1\nentries:\n  "\\x78":\n  ${entry("1.0.0")}\n`],
    ["a complex key", `apiVersion: v1\nentries:\n  ? x\n  :\n  ${entry("1.0.0")}\n`],
    ["an anchor as a name", `apiVersion: v1\nentries:\n  &a x:\n  ${entry("1.0.0")}\n`],
    ["a merge", `apiVersion: v1\nentries:\n  <<: {}\n`],
    ["half an indentation", `apiVersion: v1\nentries:\n    x:\n  ${entry("1.0.0")}\n`],
    ["a lone carriage return", `apiVersion: v1\nentries:\r  x:\n  ${entry("1.0.0")}\n`],
    ["no entries", "apiVersion: v1\n"],
    ["no apiVersion", `entries:\n  x:\n  ${entry("1.0.0")}\n`],
    ["a web page", "<html>\n<body>\n</body>\n</html>\n"],
    ["no line end at the end", `apiVersion: v1\nentries:\n  x:\n  ${entry("1.0.0")}`],
    ["entries twice", `apiVersion: v1\nentries:\n  x:\n  ${entry("1.0.0")}\nentries:\n`],
  ];
  for (const [name, text] of unusual) {
    it(`leaves ${name} to the full parse`, () => assert.equal(readCut(text), undefined));
  }

  it("is detected in the part when it was wrong", () => {
    const alias = `apiVersion: v1\nentries:\n  y:\n  - &one {name: y, version: 1.0.0}\n  x:\n  - *one\n`;
    const inString = `apiVersion: v1\nentries:\n  y:\n  - name: y\n    description: "begins\n  x: and ends"\n    version: 1.0.0\n`;

    assert.equal(readCut(alias)?.get("x"), undefined);
    assert.equal(readCut(inString)?.get("x"), undefined);
    assert.equal(readCut(inString)?.get("y"), undefined);
  });

  it("has the result of a full parse", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,9}$/);
    const version = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20)).map((parts) => parts.join("."));
    const line = fc.record({
      version,
      url: fc.constantFrom(
        "x.tgz",
        "https://h/x.tgz",
        "'it''s: a # url'",
        '"quoted: \\" x"',
        "|-\n      many\n\n      lines: 1\n      - 2",
      ),
    });

    fc.assert(
      fc.property(
        fc.dictionary(name, fc.array(line, { maxLength: 4 }), {
          maxKeys: 6,
          noNullPrototype: false,
        }),
        fc.integer({ min: 1, max: 200 }),
        (charts, pieceBytes) => {
          const text = indexText(charts);
          const parts = cut(text, pieceBytes);
          const { charts: parsed } = parseIndexDocument(bytes(text));

          assert.deepEqual([...(parts?.keys() ?? [])], [...parsed.keys()]);
          for (const [chart, value] of parsed) {
            assert.deepEqual(
              parseChartBlock(chart, parts?.get(chart) ?? new Uint8Array()),
              readChartEntries(chart, value),
            );
          }
        },
      ),
    );
  });
});
