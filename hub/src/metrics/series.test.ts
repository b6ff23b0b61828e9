import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { piecesOf } from "../testing/index.ts";
import { createSeriesRegistry, type Series } from "./series.ts";

function bookOf(...series: readonly Series[]) {
  const book = createSeriesRegistry();
  book.register([{ name: "ships", help: "How many ships.", series: () => series }]);
  return book;
}

describe("series of objects", () => {
  test("are written in the text format of Prometheus", async () => {
    const book = bookOf(
      { labels: { port: "oslo", state: "" }, value: 3 },
      { labels: { port: 'the "old"\\one\n' }, value: 0.5 },
    );

    assert.equal(
      (await piecesOf(book)).join(""),
      [
        "# HELP ships How many ships.",
        "# TYPE ships gauge",
        'ships{port="oslo",state=""} 3',
        String.raw`ships{port="the \"old\"\\one\n"} 0.5`,
        "",
      ].join("\n"),
    );
  });

  test("leave the event loop a turn after each piece, however many there are", async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => ({
      labels: { port: `port-${index}` },
      value: index,
    }));
    const book = bookOf(...many);
    let isWritten = false;
    let turns = 0;
    setImmediate(function turn() {
      turns += 1;
      if (!isWritten) setImmediate(turn);
    });

    const pieces = await piecesOf(book);
    isWritten = true;

    assert.equal(pieces.join("").match(/^ships\{/gm)?.length, many.length);
    assert.ok(pieces.length >= 4, `${pieces.length} pieces`);
    assert.ok(turns >= pieces.length - 1, `${turns} turns`);
  });
});
