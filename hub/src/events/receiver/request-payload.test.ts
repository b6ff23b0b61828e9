import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { payloadOf } from "./request-payload.ts";

const event = { message: { data: Buffer.from('{"tag":"web:1"}').toString("base64") } };

describe("the payload of a call", () => {
  test.each([
    ["generic with JSON", "generic", "application/json", '{"a":1}', true, { a: 1 }, 1],
    ["generic with text", "generic", "text/plain", "text", true, {}, 0],
    ["generic without filters", "generic", "application/json", "text", false, {}, 0],
    ["generic that is not JSON", "generic", "application/json", "text", true, "invalid", 1],
    ["acr with JSON", "acr", "application/json", '{"a":1}', true, { a: 1 }, 1],
    ["acr with JSON as text", "acr", "text/plain", '{"a":1}', true, {}, 1],
    ["acr without filters", "acr", "application/json", '{"a":1}', false, {}, 1],
    ["quay without a body", "quay", "application/json", "", false, "rejected", 1],
    ["dockerhub with a number", "dockerhub", "application/json", "1", false, "rejected", 1],
    ["nexus that is not JSON", "nexus", "text/plain", "text", true, "rejected", 1],
    ["gcr", "gcr", "", JSON.stringify(event), false, { tag: "web:1" }, 1],
    ["gcr without a message", "gcr", "", "{}", false, "rejected", 1],
  ] as const)(
    "of %s is parsed once, if at all",
    (_, type, contentType, body, isFiltered, expected, times) => {
      let parsed = 0;
      const countParsing = (): void => {
        parsed += 1;
      };
      const payload = payloadOf(
        type,
        { header: () => contentType, body: Buffer.from(body) },
        { isFiltered, onParse: countParsing },
      );

      assert.deepEqual(payload.kind === "payload" ? payload.value : payload.kind, expected);
      assert.equal(parsed, times);
    },
  );
});
