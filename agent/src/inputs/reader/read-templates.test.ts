import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { performTemplateTask } from "../values/template/index.ts";
import { createReadTemplates } from "./read-templates.ts";

/** Counts what is passed to readers, and does it in this process. */
function setUp() {
  const passed: string[] = [];
  const templates = createReadTemplates({
    run(task) {
      assert.equal(task.kind, "templates");
      passed.push(task.task.kind);
      return Promise.resolve(JSON.parse(JSON.stringify(performTemplateTask(task.task))));
    },
  });
  return { templates, passed };
}

const long = "x".repeat(17 * 1024);

describe("the templates of values", () => {
  test("are translated at once if they are short, and by a reader if they are long together", async () => {
    const { templates, passed } = setUp();

    const short = await templates.translate(["${ .ClusterName }"]);
    assert.ok("texts" in short);
    assert.match(short.texts[0] ?? "", /\.ClusterName/);
    assert.deepEqual(await templates.translate(["a ${"]), {
      number: 0,
      why: "it has an unclosed ${",
    });
    assert.deepEqual(passed, []);
    assert.ok("texts" in (await templates.translate([long])));
    assert.deepEqual(passed, ["translate"]);
  });

  test("are read after rendering at once if that is short, and by a reader if it is long together", async () => {
    const { templates, passed } = setUp();
    const text = "${ .ClusterName }";
    const rendered = (result: string) => ({ text, rendered: result, place: "value" as const });

    assert.deepEqual(await templates.reread([rendered("9007199254740993"), rendered("a")]), {
      json: '[9007199254740993,"a"]',
    });
    assert.deepEqual(await templates.reread([{ text, rendered: "a: 1\nb: 2", place: "whole" }]), {
      json: '[{"a":1,"b":2}]',
    });
    assert.deepEqual(passed, []);
    const found = await templates.reread([rendered("a"), rendered(`[${long}`)]);
    assert.ok("why" in found);
    assert.equal(found.number, 1);
    assert.deepEqual(passed, ["reread"]);
  });
});
