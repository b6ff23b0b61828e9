import assert from "node:assert/strict";
import { cpuMs } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { compileCel, type Evaluated } from "./index.ts";

const object = {
  apiVersion: "example.com/v1",
  metadata: {
    name: "db",
    generation: 2,
    labels: { tier: "base" },
    creationTimestamp: "2026-01-02T03:04:05Z",
  },
  spec: { replicas: 3, ratio: 1.5, paused: false, ports: [80, 443], nothing: null },
  status: {
    observedGeneration: 2,
    phase: "Running",
    conditions: [
      { type: "Ready", status: "True", since: "2026-01-02T03:05:05Z" },
      { type: "Stalled", status: "False", since: "2026-01-02T03:04:05Z" },
    ],
  },
};

function evaluate(
  source: string,
  variables: Readonly<Record<string, unknown>> = object,
): Evaluated {
  const compiled = compileCel(source);
  if (compiled.kind === "invalid") assert.fail(compiled.why);
  return compiled.expression.evaluate(variables);
}

const truths = [
  "status.phase == 'Running'",
  "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
  "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')",
  "status.conditions.exists_one(c, c.status == 'True')",
  "status.conditions.map(c, c.type) == ['Ready', 'Stalled']",
  "status.conditions.map(c, c.status == 'True', c.type) == ['Ready']",
  "metadata.labels.exists(key, key == 'tier' && metadata.labels[key] == 'base')",
  "metadata.labels.all(key, key != 'x')",
  "metadata.generation == status.observedGeneration",
  "has(status.phase) && !has(status.reason)",
  "has(spec.nothing) && spec.nothing == null",
  "spec.replicas == 3 && spec.replicas == 3.0 && spec.replicas < 3.5 && type(spec.replicas) == int",
  "type(spec.ratio) == double && type(3.0) == double && type(3) != double",
  "spec.replicas / 2 == 1 && -7 / 2 == -3 && -7 % 2 == -1 && 7.0 / 2.0 == 3.5",
  "-9223372036854775808 < 0",
  "spec.ratio * 2.0 == 3.0 && double(spec.replicas) * 0.5 == 1.5",
  "80 in spec.ports && !(81 in spec.ports) && 'tier' in metadata.labels && !('x' in metadata.labels)",
  "spec.ports[1] == 443 && metadata.labels['tier'] == 'base' && size(spec.ports) == 2",
  "[1, 2] + [3] == [1, 2, 3] && {'a': 1} == {'a': 1.0} && {'a': 1} != {'a': 2}",
  "'a' + 'b' == 'ab' && 'abc' < 'abd' && 'abc'.size() == 3 && size('añ') == 2",
  "'a,b,c'.split(',') == ['a', 'b', 'c'] && 'a,b,c'.split(',', 2) == ['a', 'b,c']",
  "['a', 'b'].join('-') == 'a-b' && 'a-b-c'.replace('-', '+') == 'a+b+c'",
  "'a-b-c'.replace('-', '+', 1) == 'a+b-c' && 'a-b'.replace('-', '$&') == 'a$&b'",
  "'v1.2.3'.startsWith('v1') && 'v1.2.3'.endsWith('.3') && 'v1.2.3'.contains('.2.')",
  "'Abc'.lowerAscii() == 'abc' && 'Äbc'.upperAscii() == 'ÄBC' && ' a '.trim() == 'a' && 'abc'.reverse() == 'cba'",
  "'abcb'.indexOf('b') == 1 && 'abcb'.indexOf('b', 2) == 3 && 'abcb'.lastIndexOf('b') == 3 && 'abc'.charAt(1) == 'b'",
  "'abc'.substring(1) == 'bc' && 'abc'.substring(0, 2) == 'ab'",
  "'v1.2.3'.matches('^v[0-9]+[.]') && !matches('x', '^y$')",
  "int('42') == 42 && string(42) == '42' && double('1.5') == 1.5 && bool('true') && int(2.9) == 2",
  "timestamp(status.conditions[0].since) - timestamp(metadata.creationTimestamp) == duration('1m')",
  "timestamp(metadata.creationTimestamp) + duration('1h') > timestamp('2026-01-02T04:00:00Z')",
  "timestamp(metadata.creationTimestamp).getFullYear() == 2026 && duration('90m').getHours() == 1",
  "status.?reason.orValue('none') == 'none' && status.?phase.orValue('none') == 'Running'",
  "status.?a.b.c.orValue(1) == 1 && status.?phase.hasValue() && spec.ports[?5].orValue(0) == 0",
  "optional.of(1).optMap(x, x + 1).value() == 2 && optional.none().or(optional.of(3)).value() == 3",
  "cel.bind(ready, status.conditions[0], ready.type == 'Ready' && ready.status == 'True')",
  "sets.contains([1, 2, 3], [2, 3]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 2, 2], [2, 1])",
  "status.absent == 1 || status.phase == 'Running'",
  "status.phase == 'Running' || status.absent == 1",
  "!(status.absent == 1 && status.phase == 'Failed')",
  "status.conditions.exists(c, c.absent == 1 || c.type == 'Stalled')",
  "spec.paused ? false : true",
  "type(type(1)) == type && type({}) == map && type(null) == null_type",
  "dyn(1) == 1 && 'a' != dyn(1)",
] as const;

describe("an expression", () => {
  for (const source of truths)
    test(`is true: ${source}`, () => {
      assert.deepEqual(evaluate(source), { kind: "value", value: true });
    });

  test("is false where a condition does not hold", () => {
    assert.deepEqual(evaluate("status.phase == 'Failed'"), { kind: "value", value: false });
  });

  test("does not change or reach anything but its variables", () => {
    for (const source of [
      "status.constructor == 1",
      "status.__proto__ == 1",
      "constructor == 1",
      "status['toString'] == 1",
    ])
      assert.match(failureOf(evaluate(source)), /^there is no/);
  });
});

function failureOf(evaluated: Evaluated): string {
  return evaluated.kind === "failed" ? evaluated.why : `it has a ${evaluated.kind}`;
}

describe("an expression without a value", () => {
  const cases: readonly (readonly [source: string, why: string])[] = [
    ["status.reason == 'x'", "there is no field reason"],
    ["data.a == 'x'", "there is no data"],
    ["status.phase.x == 1", ".x is not defined for string"],
    ["spec.ports[7] == 1", "there is no item 7"],
    ["spec.replicas", "its result is a int and not a bool"],
    ["spec.replicas + 'a' == 'b'", "+ is not defined for int and string"],
    ["spec.replicas < 'a'", "< is not defined for int and string"],
    ["spec.replicas / 0 == 1", "division by zero"],
    ["9223372036854775807 + 1 > 0", "an integer exceeds 64 bits"],
    ["spec.replicas ? true : false", "a condition is a int and not a bool"],
    ["int('x') == 1", "int(): the text is not an integer"],
    ["timestamp('2026') == timestamp(1)", "timestamp(): the text is not a time of RFC 3339"],
    [
      "timestamp(metadata.creationTimestamp) + duration('99999999h') > timestamp(0)",
      "a timestamp is not in the years 1 to 9999",
    ],
    ["status.phase.all(x, true)", "a macro of lists is not defined for string"],
    [
      "'a'.matches('(')",
      "a regular expression cannot be used: error parsing regexp: missing closing ): `(`",
    ],
    ["status.conditions.all(c, c.absent == 1)", "there is no field absent"],
  ];
  for (const [source, why] of cases)
    test(`says why: ${source}`, () => {
      assert.equal(failureOf(evaluate(source)), why);
    });
});

describe("a source that cannot be evaluated", () => {
  const cases: readonly (readonly [what: string, source: string, why: RegExp])[] = [
    ["is empty", "", /line 1, column 1/],
    ["is not complete", "status.phase ==", /line 1, column 16/],
    ["is wrong in another line", "true &&\n  status.(", /line 2, column 10/],
    [
      "calls an unknown function",
      "nofn(status)",
      /^there is no function nofn\(\) \(line 1, column 1\)$/,
    ],
    ["calls an unknown method", "true && status.phase.foo()", /^there is no method foo\(\)/],
    ["has too many arguments", "size(1, 2) == 1", /^size\(\) does not take 2 arguments/],
    ["asks for no field", "has(status)", /^has\(\) takes one field/],
    ["iterates without a variable", "[1].all(1, true)", /variable/],
    ["can only be a text", "'ready'", /^its result is neither true nor false/],
    ["can only be a number", "1 + 1", /^its result is neither true nor false/],
    ["has bytes", "b'a' == b'a'", /^bytes and unsigned integers are not supported/],
    ["has an integer that is too large", "9223372036854775808 > 0", /^an integer exceeds 64 bits/],
    [
      "is too long",
      `true || '${"a".repeat(4_096)}' == 'b'`,
      /^it has 4113 bytes; the limit is 4096$/,
    ],
    [
      "has too many nodes",
      `${"!".repeat(4_000)}a`,
      /^it has more than 2000 parts, or is nested too deeply/,
    ],
    [
      "is nested too deeply",
      `${"(".repeat(2_000)}true${")".repeat(2_000)}`,
      /^it has more than 2000 parts, or is nested too deeply/,
    ],
  ];
  for (const [what, source, why] of cases)
    test(`is invalid: it ${what}`, () => {
      const compiled = compileCel(source);

      assert.match(compiled.kind === "invalid" ? compiled.why : "it is valid", why);
    });

  test("names a variable that there is not, where the variables are known", () => {
    const options = { variables: ["self", "dep"] };

    assert.equal(compileCel("self.metadata.name == dep.metadata.name", options).kind, "compiled");
    assert.equal(compileCel("dep.list.all(x, x == self.y)", options).kind, "compiled");
    assert.deepEqual(compileCel("self.a == deb.b", options), {
      kind: "invalid",
      why: "there is no deb; there are self, dep (line 1, column 11)",
    });
  });
});

describe("an expression that takes long", () => {
  const list = Array.from({ length: 1_000 }, (_, index) => index);
  const cases: readonly (readonly [what: string, source: string])[] = [
    ["nested macros", "list.all(a, list.all(b, list.all(c, a + b + c >= 0)))"],
    [
      "nested macros whose errors are recovered",
      "list.exists(a, list.exists(b, list.exists(c, a.x == b)))",
    ],
    ["lists that grow", "list.map(a, list + list).map(b, b + b).size() > 0"],
    ["texts that grow", `cel.bind(a, '${"x".repeat(1_000)}', ${doubling(30, "a")}).size() > 0`],
    ["a long text that is replaced", "list.all(a, text.replace('', text).size() > 0)"],
    ["a long text that is split", "list.all(a, text.split('').size() > 0)"],
    ["a large regular expression", "list.all(a, text.matches('(a?){500}b' + string(a)))"],
  ];
  for (const [what, source] of cases)
    test(`is ended: ${what}`, () => {
      const usedMs = cpuMs(() => {
        const failure = failureOf(evaluate(source, { list, text: "x".repeat(10_000) }));

        assert.match(
          failure,
          /^it (needs more than 100000 steps|takes more than 50 ms of CPU)$|too large/,
        );
      });
      assert.ok(usedMs < 20 * cpuMs(useAllSteps), `${usedMs} ms`);
    });

  /** What all steps of an evaluation cost on this machine. */
  function useAllSteps(): void {
    evaluate("list.all(a, list.all(b, a + b >= 0))", { list });
  }

  test("matches a regular expression without backtracking", () => {
    const text = `${"x".repeat(1_000)}z`;

    assert.deepEqual(evaluate("text.matches('^(x+x+)+y$')", { text }), {
      kind: "value",
      value: false,
    });
  });

  test("is ended by its CPU time on a slow machine", () => {
    let now = 0;
    const compiled = compileCel("list.all(a, list.all(b, a + b >= 0))", {
      cpuMs: () => {
        now += 30;
        return now;
      },
    });

    const { expression } = compiled.kind === "compiled" ? compiled : assert.fail(compiled.why);
    assert.equal(failureOf(expression.evaluate({ list })), "it takes more than 50 ms of CPU");
  });

  test("does not end one that reads a large object", () => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({ name: `n${index}`, ready: true }));

    assert.deepEqual(
      evaluate("items.all(i, has(i.ready) && i.ready && i.name.startsWith('n'))", { items }),
      {
        kind: "value",
        value: true,
      },
    );
  });
});

/** `a + a`, bound to a variable that is added to itself again, and so on. */
function doubling(times: number, name: string): string {
  return times === 0
    ? name
    : `cel.bind(b${times}, ${name} + ${name}, ${doubling(times - 1, `b${times}`)})`;
}
