import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIndexReader, type IndexReader, type IndexReaderOptions } from "./index-reader.ts";
import { indexText } from "./testing/index-text.ts";

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

async function versionsOf(
  reader: IndexReader,
  source: string,
  parseAll: boolean,
): Promise<readonly (readonly string[] | undefined)[]> {
  const index = await reader.pack(new TextEncoder().encode(source), { parseAll });
  const charts = await Promise.all(index.names.map((_, at) => reader.read(index, at)));
  return charts.map((chart) => chart?.entries.map(({ version }) => version));
}

for (const [where, options] of [
  ["at once", { inlineBytes: 1e6 }],
  ["in the thread", { inlineBytes: 0 }],
] as const) {
  describe(`an index that is read ${where}`, () => {
    for (const parseAll of [false, true]) {
      it(
        `is ${parseAll ? "parsed whole" : "cut"}`,
        withReader(options, async (reader) => {
          assert.deepEqual(await versionsOf(reader, text, parseAll), [
            ["1.1.0", "1.0.0"],
            ["3.0.0"],
          ]);
        }),
      );
    }

    it(
      "says what is wrong with it",
      withReader(options, async (reader) => {
        await assert.rejects(
          reader.pack(new TextEncoder().encode("<html>"), { parseAll: false }),
          /it is a web page/,
        );
        assert.deepEqual(await versionsOf(reader, text, false), [["1.1.0", "1.0.0"], ["3.0.0"]]);
      }),
    );
  });
}

describe("the thread that reads indexes", () => {
  it(
    "is started anew after it has ended",
    withReader({ inlineBytes: 0, idleMs: 0 }, async (reader) => {
      for (let round = 0; round < 3; round++) {
        assert.deepEqual(await versionsOf(reader, text, false), [["1.1.0", "1.0.0"], ["3.0.0"]]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );

  it(
    "gives up a text that takes too long",
    withReader({ inlineBytes: 0, timeoutMs: 0 }, async (reader) => {
      await assert.rejects(
        reader.pack(new TextEncoder().encode(text), { parseAll: false }),
        /could not be read within 0 s/,
      );
    }),
  );

  it(
    "does not take the process with it when memory runs out",
    withReader({ inlineBytes: 0, maxHeapMegabytes: 16 }, async (reader) => {
      const huge = `apiVersion: v1\nentries: {x: [${"{version: 1.0.0, name: x}, ".repeat(300_000)}]}`;

      await assert.rejects(
        reader.pack(new TextEncoder().encode(huge), { parseAll: true }),
        /it could not be read: .*memory/,
      );
    }),
  );

  it("leaves nobody waiting when it is closed", async () => {
    const reader = createIndexReader({ inlineBytes: 0 });
    const packed = assert.rejects(
      reader.pack(new TextEncoder().encode(text), { parseAll: false }),
      /closed/,
    );

    await reader.close();

    await packed;
  });
});
