import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { aBundle } from "../../testing/index.ts";
import { createUnmatchedSelectors } from "./unmatched-selectors.ts";

type DependsOn = Bundle["spec"]["dependsOn"];

const base: DependsOn = [{ selector: { matchLabels: { tier: "base" } } }];

function bundle(name: string, labels: Record<string, string>, dependsOn?: DependsOn): Bundle {
  const given = aBundle({ dependsOn }, { name, labels });
  return { ...given, metadata: { ...given.metadata, name, labels } };
}

function setUp() {
  const store = createStore<Bundle>();
  const unmatched = createUnmatchedSelectors(store);
  const namesOf = (keys: readonly string[]) => keys.map((key) => key.slice(key.indexOf("/") + 1));
  return {
    of: unmatched.of,
    saw(one: Bundle) {
      store.set(one);
      return namesOf(unmatched.changed(keyOf(one), one));
    },
    missed(one: Bundle) {
      store.remove(one);
      return namesOf(unmatched.changed(keyOf(one), undefined));
    },
  };
}

describe("a selector of dependsOn", () => {
  test("is unmatched until a Bundle has its labels, and again without it", () => {
    const { of, saw, missed } = setUp();
    const web = bundle("web", {}, base);
    const db = bundle("db", { tier: "base" });
    saw(web);
    assert.deepEqual(of(web), ["tier=base"]);

    assert.deepEqual(saw(bundle("db", {})), []);
    assert.deepEqual(of(web), ["tier=base"]);
    assert.deepEqual(saw(db), ["web"], "web is shown again");
    assert.deepEqual(of(web), []);
    assert.deepEqual(saw(bundle("db", {})), ["web"]);
    assert.deepEqual(of(web), ["tier=base"]);
    saw(db);
    assert.deepEqual(missed(db), ["web"]);
    assert.deepEqual(of(web), ["tier=base"]);
  });

  test("is matched by what was there before it", () => {
    const { of, saw } = setUp();
    const web = bundle("web", {}, base);
    saw(bundle("db", { tier: "base" }));
    saw(web);
    assert.deepEqual(of(web), []);
  });

  test("is not matched by its own Bundle", () => {
    const { of, saw } = setUp();
    const [one, other] = [
      bundle("one", { tier: "base" }, base),
      bundle("other", { tier: "base" }, base),
    ];
    saw(one);
    assert.deepEqual(of(one), ["tier=base"]);
    assert.deepEqual(saw(other), ["one"]);
    assert.deepEqual([of(one), of(other)], [[], []]);
  });

  test("is matched by the name of a Bundle", () => {
    const { of, saw } = setUp();
    const named = { matchLabels: { "fleet.cattle.io/bundle-name": "db" } };
    const web = bundle("web", {}, [{ selector: named }, { selector: {} }]);
    saw(web);
    assert.deepEqual(of(web), ["fleet.cattle.io/bundle-name=db", "{}"]);
    saw(bundle("db", {}));
    assert.deepEqual(of(web), []);
  });

  test("stays matched by the last of many Bundles, of which it keeps only the first", () => {
    const { of, saw, missed } = setUp();
    const web = bundle("web", {}, base);
    const all = Array.from({ length: 40 }, (_, at) => bundle(`db${at}`, { tier: "base" }));
    saw(web);
    for (const each of all) saw(each);

    for (const each of all.slice(0, -1)) {
      missed(each);
      assert.deepEqual(of(web), []);
    }
    assert.deepEqual(missed(bundle("db39", {})), ["web"]);
    assert.deepEqual(of(web), ["tier=base"]);
  });

  test("counts as matched where tenants have written more, or longer ones, than are compared", () => {
    const { of, saw } = setUp();
    const labelled = (value: string): DependsOn => [{ selector: { matchLabels: { value } } }];
    for (let at = 0; at < 500; at += 1) saw(bundle(`b${at}`, {}, labelled(String(at))));
    const [more, long] = [
      bundle("more", {}, labelled("500")),
      bundle("long", {}, labelled("x".repeat(2_000))),
    ];
    saw(more);
    assert.deepEqual([of(more), of(bundle("b0", {}, labelled("0")))], [[], ["value=0"]]);
    saw(bundle("b0", {}));
    saw(long);
    assert.deepEqual(of(long), []);
    saw(more);
    assert.deepEqual(of(more), ["value=500"]);
  });

  test("is not looked at where there is a name, too, or once nothing depends on it", () => {
    const { of, saw } = setUp();
    const named = bundle("named", {}, [{ name: "x", selector: { matchLabels: { tier: "base" } } }]);
    const web = bundle("web", {}, base);
    saw(named);
    assert.deepEqual(of(named), []);
    saw(web);
    saw(bundle("web", {}));
    assert.deepEqual(saw(bundle("db", { tier: "base" })), []);
  });
});
