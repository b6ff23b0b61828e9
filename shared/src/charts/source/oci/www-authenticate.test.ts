import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { parseChallenges } from "./www-authenticate.ts";

const read = (header: string) =>
  parseChallenges(header).map(({ scheme, parameters }) => ({ scheme, ...parameters }));

describe("a WWW-Authenticate header", () => {
  const cases: readonly (readonly [header: string, challenges: readonly object[]])[] = [
    [
      'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull,push"',
      [
        {
          scheme: "bearer",
          realm: "https://auth.docker.io/token",
          service: "registry.docker.io",
          scope: "repository:a/b:pull,push",
        },
      ],
    ],
    ['Basic realm="a \\"quoted\\" one"', [{ scheme: "basic", realm: 'a "quoted" one' }]],
    ["Basic realm=plain", [{ scheme: "basic", realm: "plain" }]],
    [
      'Negotiate, Basic realm="x", Bearer realm = "y" , scope=z',
      [
        { scheme: "negotiate" },
        { scheme: "basic", realm: "x" },
        { scheme: "bearer", realm: "y", scope: "z" },
      ],
    ],
    [
      'Negotiate YWJj=, Basic realm="x"',
      [{ scheme: "negotiate" }, { scheme: "basic", realm: "x" }],
    ],
    ['BEARER Realm="x"', [{ scheme: "bearer", realm: "x" }]],
    ['Bearer realm="x",realm="y"', [{ scheme: "bearer", realm: "x" }]],
    ['Bearer realm="x",error="no', [{ scheme: "bearer", realm: "x" }]],
    ["", []],
    ["=,=", []],
  ];
  for (const [header, challenges] of cases) {
    it(`${header} is parsed`, () => assert.deepEqual(read(header), challenges));
  }

  it("is unchanged by formatting and parsing", () => {
    const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/);
    const challenge = fc.record({
      scheme: word.map((text) => text.toLowerCase()),
      parameters: fc.dictionary(
        word.map((text) => text.toLowerCase()),
        fc.stringMatching(/^[ -~]*$/),
        { minKeys: 1, maxKeys: 4, noNullPrototype: false },
      ),
    });

    fc.assert(
      fc.property(fc.array(challenge, { maxLength: 3 }), (challenges) => {
        const header = challenges
          .map(({ scheme, parameters }) => {
            const written = Object.entries(parameters).map(
              ([name, value]) => `${name}="${value.replace(/["\\]/g, "\\$&")}"`,
            );
            return `${scheme} ${written.join(", ")}`;
          })
          .join(", ");

        assert.deepEqual(
          read(header),
          challenges.map(({ scheme, parameters }) => ({ scheme, ...parameters })),
        );
      }),
    );
  });

  it("with any text neither throws nor hangs", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9 =,"\\;:/]*$/),
        (header) => parseChallenges(header).length >= 0,
      ),
    );
  });
});
