import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { piecesOf } from "../../testing/index.ts";
import { createSeriesRegistry, type Series } from "./series.ts";

function registryOf(...series: readonly Series[]) {
  const registry = createSeriesRegistry();
  registry.register([{ name: "ships", help: "How many ships.", series: () => series }]);
  return registry;
}

describe("series of objects", () => {
  test("are written in the text format of Prometheus", async () => {
    const registry = registryOf(
      { labels: { port: "oslo", state: "" }, value: 3 },
      { labels: { port: 'the "old"\\one\n' }, value: 0.5 },
    );

    assert.equal(
      (await piecesOf(registry)).join(""),
      [
        "# HELP ships How many ships.",
        "# TYPE ships gauge",
        'ships{port="oslo",state=""} 3',
        String.raw`ships{port="the \"old\"\\one\n"} 0.5`,
        "",
      ].join("\n"),
    );
  });

  test("are written in pieces, and the event loop runs in between", async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => ({
      labels: { port: `port-${index}` },
      value: index,
    }));
    const registry = registryOf(...many);
    let isWritten = false;
    let iterations = 0;
    setImmediate(function iteration() {
      iterations += 1;
      if (!isWritten) setImmediate(iteration);
    });

    const pieces = await piecesOf(registry);
    isWritten = true;

    assert.equal(pieces.join("").match(/^ships\{/gm)?.length, many.length);
    assert.ok(pieces.length >= 4, `${pieces.length} pieces`);
    assert.ok(iterations >= pieces.length - 1, `${iterations} iterations`);
  });
});
