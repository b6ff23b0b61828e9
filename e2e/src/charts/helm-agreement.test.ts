/**
 * Random indexes, registries and constraints for the real Helm and for us: both select the same version, or both reject.
 * `FLOTILLA_SEED` selects others, `FLOTILLA_PAIRS` sets their number; `npm run soak` runs 2,100.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startReaper } from "@flotilla/local/process";
import { startRegistry } from "@flotilla/local/registries";
import { testDir } from "@flotilla/local/testing";
import { accessTo, type Pin, type SourceLocation } from "@flotilla/shared/source";
import { createSourceClient } from "@flotilla/shared/source/client";
import { seed } from "@flotilla/shared/testing";
import { parseVersion } from "@flotilla/shared/version";
import fc from "fast-check";
import { afterAll, describe, it, type TestContext } from "vitest";
import { type Answered, anyVersion, askBoth, fullVersion } from "./testing/agreement.ts";
import { helmAnswers, rejected } from "./testing/helm-answer.ts";
import { pushTags } from "./testing/tagged-charts.ts";

/** How many, of both kinds together. */
const pairs = Number(process.env["FLOTILLA_PAIRS"] ?? 150);
const lanes = 2;
const chartsAtATime = 10;
const repositories = 40;

const { helm, registry: registryBinary } = await ensureBinaries(["helm", "registry"]);
const home = await testDir({ onTestFinished: afterAll });
const client = createSourceClient({ userAgent: "flotilla-test" });
afterAll(() => client.close());

/** The version that we select, or that we reject. */
async function ours(
  source: SourceLocation,
  version: string,
  nameOf: (pin: Pin) => string,
): Promise<string> {
  return client.resolve(source, version, accessTo(source)).then(
    ({ pin }) => nameOf(pin),
    () => rejected,
  );
}

function agreed(t: TestContext, answered: readonly Answered[]): void {
  const found = answered.filter(({ theirs }) => theirs !== rejected).length;
  void t.annotate(`${answered.length} pairs, ${found} with a version, FLOTILLA_SEED=${seed}`);

  const different = answered.filter((one) => one.ours !== one.theirs);
  assert.deepEqual(different.slice(0, 5), [], `${different.length} with FLOTILLA_SEED=${seed}`);
  // Otherwise agreement would prove nothing.
  assert.ok(found > answered.length / 3, `only ${found} led to a version`);
  assert.ok(found < answered.length * 0.98, `only ${answered.length - found} were rejected`);
}

interface Entry {
  readonly version: string | undefined;
  /** Whether it has addresses, and a name. */
  readonly urls: boolean;
  readonly name: boolean;
}

describe("an index that Helm and we parse", () => {
  /** The fields of an entry; some entries are invalid, which Helm skips. */
  const entry: fc.Arbitrary<Entry | null> = fc.oneof(
    { weight: 14, arbitrary: anyVersion.map((version) => ({ version, urls: true, name: true })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        null,
        { version: "0.9.9", urls: false, name: true },
        { version: "0.9.9", urls: true, name: false },
        { version: undefined, urls: true, name: true },
      ),
    },
  );
  // At most twelve entries: with more Helm's sort is not stable, and of two equal versions it selects a random one.
  const offers = fc.array(fc.array(entry, { minLength: 2, maxLength: 12 }), {
    minLength: chartsAtATime,
    maxLength: chartsAtATime,
  });

  it("has the same selected entry, or both reject", async (t) => {
    const indexes = new Map<string, string>();
    const server = createServer(({ url = "" }, response) =>
      response.end(indexes.get(url) ?? "the bytes of a chart"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

    const answered = await askBoth({
      seed,
      pairs: Math.ceil((pairs * 2) / 3),
      lanes,
      offers,
      ask: async ({ offers: charts, version }, at, lane) => {
        const lines = charts.flatMap((entries, chart) => [
          `  c${chart}:`,
          ...entries.map((one, number) => `  - ${JSON.stringify(toEntry(one, chart, number))}`),
        ]);
        indexes.set(`/${at}/index.yaml`, ["apiVersion: v1", "entries:", ...lines, ""].join("\n"));
        const repository = `${origin}/${at}`;

        const theirs = await helmAnswers({
          helm,
          home: join(home, `http-${lane}`),
          charts: charts.map((_, chart) => ({ argument: `c${chart}`, begins: `c${chart}_` })),
          flags: ["--repo", repository],
          version,
        });
        return Promise.all(
          charts.map(async (entries, chart) => ({
            question: `${JSON.stringify(version)} of ${JSON.stringify(entries)}`,
            ours: await ours({ kind: "http", repository, chart: `c${chart}` }, version, (pin) =>
              pin.kind === "http" ? basename(pin.url) : pin.kind,
            ),
            theirs: theirs[chart] ?? "",
          })),
        );
      },
    });

    agreed(t, answered);
  });

  /** As JSON, which is YAML. */
  function toEntry(one: Entry | null, chart: number, number: number): unknown {
    return (
      one && {
        ...(one.name && { name: `c${chart}` }),
        version: one.version,
        urls: one.urls ? [`c${chart}_${number}.tgz`] : [],
      }
    );
  }
});

describe("a registry that Helm and we read", async () => {
  const reaper = startReaper();
  afterAll(() => reaper.release());
  const registry = await startRegistry({
    dir: join(home, "registry"),
    binary: registryBinary,
    reaper,
  });
  afterAll(() => registry.stop());

  // Full versions, and tags that both skip. Tags that only Helm skips are in the table below.
  const tags = fc.uniqueArray(
    fc.oneof(
      { weight: 12, arbitrary: fullVersion.map((version) => version.replaceAll("+", "_")) },
      { weight: 1, arbitrary: fc.constantFrom("latest", "nonsense", "1.2.3.4", "main") },
    ),
    { minLength: 3, maxLength: 8 },
  );

  /**
   * Helm reads a single version as the name of a tag, and rejects it when there is none. Like Fleet we then read it as a
   * constraint: `1.2` is a range, and `1.2.3` is also `v1.2.3` and `1.2.3+b`. So Helm gets the same with the sign that
   * makes it a constraint.
   */
  function asConstraint(version: string, offered: readonly string[]): string {
    const isTag = offered.includes(version.replaceAll("+", "_"));
    return !isTag && parseVersion(version) !== undefined ? `=${version}` : version;
  }

  it("has the same selected tag, or both reject", async (t) => {
    const offered = fc.sample(tags, { seed, numRuns: repositories });
    await Promise.all(offered.map((one, at) => pushTags(registry.url, `random/c${at}`, one)));

    const answered = await askBoth({
      seed: seed + 1,
      pairs: Math.ceil(pairs / 3),
      lanes,
      offers: fc.uniqueArray(fc.nat(repositories - 1), {
        minLength: chartsAtATime,
        maxLength: chartsAtATime,
      }),
      ask: async ({ offers: chosen, version }, _, lane) => {
        const asked = Map.groupBy(chosen, (at) => asConstraint(version, offered[at] ?? []));
        const theirs = new Map<number, string>();
        for (const [question, charts] of asked) {
          const answers = await helmAnswers({
            helm,
            home: join(home, `oci-${lane}`),
            charts: charts.map((at) => ({
              argument: `${registry.oci}/random/c${at}`,
              begins: `c${at}-`,
            })),
            flags: ["--plain-http"],
            version: question,
          });
          for (const [number, at] of charts.entries()) theirs.set(at, answers[number] ?? "");
        }
        return Promise.all(
          chosen.map(async (at) => ({
            question: `${JSON.stringify(version)} of ${JSON.stringify(offered[at])}`,
            ours: await ours(
              { kind: "oci", repository: `${registry.oci}/random/c${at}` },
              version,
              (pin) => (pin.kind === "oci" ? `c${at}-${pin.version}.tgz` : pin.kind),
            ),
            theirs: theirs.get(at) ?? "",
          })),
        );
      },
    });

    agreed(t, answered);
  });

  // biome-ignore format: a table
  const differences: readonly (readonly [why: string, version: string, ours: string, helm: string])[] = [
    ["a tag with a v is a version to Fleet, and Helm does not see it", "^1.4 <1.9", "v1.5.0", rejected],
    ["a tag of two numbers is a version to Fleet, and Helm does not see it", "~1.9", "1.9", rejected],
    ["both take such tags when they are named", "v1.5.0", "v1.5.0", "v1.5.0"],
    ["both take such tags when they are named", "1.9", "1.9", "1.9"],
    ["two numbers are a range to Fleet, and the name of a tag to Helm", "1.2", "1.2.3", rejected],
    ["a v makes no other version to Fleet, and another tag to Helm", "v1.2.3", "1.2.3", rejected],
    ["a full version is also one with a v to Fleet, and a tag to Helm", "1.5.0", "v1.5.0", rejected],
    ["without a version both take the newest release (Fleet rejects it, though its documentation says otherwise)", "", "1.2.3", "1.2.3"],
    ["a plus is an underscore in the tag to both", "1.0.0+b", "1.0.0+b", "1.0.0+b"],
    ["of equal versions both take the first by text", "=1.0.0", "1.0.0+a", "1.0.0+a"],
    ["a prerelease that is named is taken by both", "3.0.0-rc.1", "3.0.0-rc.1", "3.0.0-rc.1"],
    ["a prerelease is let in by a constraint that names one, by both", ">2-0", "3.0.0-rc.1", "3.0.0-rc.1"],
  ];
  it("differs from Helm only where Fleet differs, too", async () => {
    const chart = "differences/c";
    // The newest that both see is 1.2.3.
    const tags = ["1.0.0_a", "1.0.0_b", "1.2.3", "v1.5.0", "1.9", "3.0.0-rc.1", "latest"];
    await pushTags(registry.url, chart, tags);
    await pushTags(
      registry.url,
      "differences/d",
      tags.filter((tag) => !/^v|^1.9/.test(tag)),
    );

    for (const [why, version, us, them] of differences) {
      const path = version === "" ? "differences/d" : chart;
      const [theirs = ""] = await helmAnswers({
        helm,
        home: join(home, "table"),
        charts: [{ argument: `${registry.oci}/${path}`, begins: path.endsWith("d") ? "d-" : "c-" }],
        flags: ["--plain-http"],
        version,
      });
      const source = { kind: "oci", repository: `${registry.oci}/${path}` } as const;
      const our = await ours(source, version, (pin) => (pin.kind === "oci" ? pin.version : ""));

      assert.deepEqual(
        [our, theirs.replace(/^[cd]-|\.tgz$/g, "")],
        [us, them],
        `${version}: ${why}`,
      );
    }
  });
});
