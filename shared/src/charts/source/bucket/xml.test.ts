import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { describe, it } from "vitest";
import { createTimeSlices } from "../../../runtime/concurrency/index.ts";
import { childText, parseXml, parseXmlInSlices } from "./xml.ts";

describe("XML", () => {
  it("is read with its text, entities and empty elements", () => {
    const root = parseXml(
      '<?xml version="1.0"?>\n<!-- c --><A xmlns="http://x/"><K>a&amp;b &#x41;&#66;</K><E/><C><![CDATA[<&>]]></C></A>\n',
    );

    assert.equal(root.name, "A");
    assert.deepEqual(
      root.children.map(({ name, text }) => [name, text]),
      [
        ["K", "a&b AB"],
        ["E", ""],
        ["C", "<&>"],
      ],
    );
    assert.equal(childText(root, "none"), undefined);
  });

  it("is read in slices as it is read at once", async () => {
    const text = `<a>${"<b>1</b>".repeat(1_000)}</a>`;
    let turns = 0;
    let isReading = true;
    const other = (): void => {
      turns += 1;
      if (isReading) setImmediate(other);
    };
    setImmediate(other);

    const root = await parseXmlInSlices(text, createTimeSlices(0));
    isReading = false;

    assert.deepEqual(root, parseXml(text));
    assert.ok(turns >= 10, `${turns} turns`);
    await assert.rejects(parseXmlInSlices("<a>", createTimeSlices()), /not valid XML/);
  });

  const broken = [
    "",
    "text",
    "<a>",
    "<a></b>",
    "</a>",
    "<a/><b/>",
    "<a>&nbsp;</a>",
    "<a>&amp</a>",
    "<a>&#x110000;</a>",
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    "<a>".repeat(50),
    `<a>${"<b/>".repeat(20_000)}</a>`,
    `<a>${"&amp;".repeat(10_001)}</a>`,
    "<html><p>login<br></html>",
  ];
  for (const text of broken) {
    it(`is refused when it is ${JSON.stringify(text).slice(0, 40)}`, () => {
      assert.throws(() => parseXml(text), /^Error: not valid XML/);
    });
  }

  it("is read in linear time", () => {
    const growth = growthOf({ small: 2_000, large: 32_000 }, (size) => {
      for (const text of [
        "<".repeat(size),
        `<a${" ".repeat(size)}`,
        `<${"a".repeat(size)}`,
        "<!--".repeat(size / 4),
      ])
        assert.throws(() => parseXml(text));
    });

    assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
  });
});
