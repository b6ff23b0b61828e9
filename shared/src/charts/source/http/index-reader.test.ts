import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { indexText } from "../testing/index.ts";
import type { PackedIndex } from "./index-pack.ts";
import {
  createIndexReader,
  type IndexReader,
  type IndexReaderOptions,
  indexLimits,
} from "./index-reader.ts";

const text = indexText({ x: ["1.1.0", "1.0.0"], y: ["3.0.0"] });

function withReader(
  options: IndexReaderOptions,
  run: (reader: IndexReader) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const reader = createIndexReader(options);
    try {
      await run(reader);
    } finally {
      await reader.close();
    }
  };
}

/** Read in two blocks. */
async function packed(reader: IndexReader, source: string, parseAll = false): Promise<PackedIndex> {
  const intake = reader.begin({ parseAll });
  const bytes = new TextEncoder().encode(source);
  const half = Math.floor(bytes.length / 2);
  await intake.add(bytes.subarray(0, half));
  await intake.add(bytes.subarray(half));
  return intake.finish();
}

async function versionsOf(
  reader: IndexReader,
  source: string,
  parseAll: boolean,
): Promise<readonly (readonly string[] | undefined)[]> {
  const index = await packed(reader, source, parseAll);
  const charts = await Promise.all(index.names.map((_, at) => reader.read(index, at)));
  return charts.map((chart) => chart?.entries.map(({ version }) => version));
}

for (const [where, options] of [
  ["at once", { inlineBytes: 1e6 }],
  ["in the thread", { inlineBytes: 0 }],
] as const) {
  describe(`an index that is parsed ${where}`, () => {
    for (const parseAll of [false, true]) {
      it(
        `is ${parseAll ? "parsed as a whole" : "split"}`,
        withReader(options, async (reader) => {
          assert.deepEqual(await versionsOf(reader, text, parseAll), [
            ["1.1.0", "1.0.0"],
            ["3.0.0"],
          ]);
        }),
      );
    }

    it(
      "reports what is invalid",
      withReader(options, async (reader) => {
        await assert.rejects(packed(reader, "<html>"), /it is a web page/);
        assert.deepEqual(await versionsOf(reader, text, false), [["1.1.0", "1.0.0"], ["3.0.0"]]);
      }),
    );
  });
}

describe("an index of an unusual layout", () => {
  const late = `${text}extra: {flow: style}\n? complex\n: key\n`;

  it(
    "is parsed as a whole, also when that is detected late",
    withReader({ inlineBytes: 0 }, async (reader) => {
      const index = await packed(reader, late);

      assert.equal(index.form, "entries");
      assert.deepEqual(index.names, ["x", "y"]);
    }),
  );

  it(
    "is rejected when it has too many charts",
    withReader({}, async (reader) => {
      const many = Array.from({ length: 50_001 }, (_, at) => `  c${at}:\n`).join("");
      await assert.rejects(
        packed(reader, `apiVersion: v1\nentries:\n${many}`),
        /it has more than 50000 charts/,
      );
    }),
  );

  it(
    "is rejected when it is too large for that",
    withReader({ inlineBytes: 0, maxWholeBytes: 100 }, async (reader) => {
      await assert.rejects(
        packed(reader, late),
        /it does not have the layout that helm repo index writes, and is larger than 100 bytes/,
      );
      assert.deepEqual(await versionsOf(reader, text, false), [["1.1.0", "1.0.0"], ["3.0.0"]]);
    }),
  );
});

describe("the memory for indexes", () => {
  const MiB = 1024 * 1024;
  const cases: readonly (readonly [memory: number, heap: number, whole: number, cached: number])[] =
    [
      [256, 85, 2.8, 32],
      [1024, 341, 11.4, 128],
      [16_384, 2048, 64, 256],
    ];
  for (const [memory, heap, whole, cached] of cases)
    it(`is a part of a container's ${memory} MiB`, () => {
      const { maxHeapMegabytes, maxWholeBytes, maxCachedBytes } = indexLimits(memory * MiB);

      assert.equal(maxHeapMegabytes, heap);
      assert.equal((maxWholeBytes / MiB).toFixed(1), whole.toFixed(1));
      assert.equal(maxCachedBytes, cached * MiB);
    });
});

describe("the worker thread of indexes", () => {
  it(
    "runs while an index is being received, and parses several at once",
    withReader({ inlineBytes: 0, idleMs: 0 }, async (reader) => {
      const [one, other] = [reader.begin({ parseAll: false }), reader.begin({ parseAll: false })];
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += 50) {
        await one.add(bytes.subarray(at, at + 50));
        await new Promise((resolve) => setTimeout(resolve, 0));
        await other.add(bytes.subarray(at, at + 50));
      }
      other.drop();

      assert.deepEqual((await one.finish()).names, ["x", "y"]);
    }),
  );

  it(
    "is started again after it has ended",
    withReader({ inlineBytes: 0, idleMs: 0 }, async (reader) => {
      for (let round = 0; round < 3; round++) {
        assert.deepEqual(await versionsOf(reader, text, false), [["1.1.0", "1.0.0"], ["3.0.0"]]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );

  it(
    "rejects a text that takes too long",
    withReader({ inlineBytes: 0, timeoutMs: 0 }, async (reader) => {
      await assert.rejects(packed(reader, text), /not parsed within 0 s/);
    }),
  );

  it(
    "does not end the process when it runs out of memory",
    withReader({ inlineBytes: 0, maxHeapMegabytes: 16 }, async (reader) => {
      const huge = `apiVersion: v1\nentries: {x: [${"{version: 1.0.0, name: x}, ".repeat(300_000)}]}`;

      await assert.rejects(packed(reader, huge, true), /the parser failed: .*memory/);
    }),
  );

  it("rejects pending reads when it is closed", async () => {
    const reader = createIndexReader({ inlineBytes: 0 });
    const rejected = assert.rejects(packed(reader, text), /closed/);

    await reader.close();

    await rejected;
  });
});
