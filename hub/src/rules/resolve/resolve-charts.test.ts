import assert from "node:assert/strict";
import type { ChartPin, HelmOp } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import {
  type AccessSettings,
  chartErrors,
  type DownloadPin,
  type RepositoryAccess,
} from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import { describe, test } from "vitest";
import { aRelease, digestB, httpPin } from "../../testing/index.ts";
import { resolveCharts } from "./resolve-charts.ts";

interface ChartRequest {
  readonly reference: string;
  readonly access: RepositoryAccess;
}

/** A repository with a configured response for each version. */
function resolverOf(
  answers: Readonly<Record<string, DownloadPin | Error>>,
  problems: readonly string[] = [],
) {
  const requests: ChartRequest[] = [];
  const resolver: Resolver = {
    resolve(_source, reference, access) {
      requests.push({ reference, access });
      const answer = answers[reference];
      return answer === undefined || answer instanceof Error
        ? Promise.reject(answer ?? new Error(`unexpected request for ${reference}`))
        : Promise.resolve({ pin: answer, problems });
    },
  };
  return { requests, resolver };
}

const { signal } = new AbortController();
const ended = AbortSignal.abort();
const settingsFor = (): AccessSettings => ({ insecureSkipVerify: true });
const repo = "https://charts.example.com";
const own = { repo, chart: "web", version: "~1.2" };
const ownPin: ChartPin = { ...own, pin: httpPin("1.2.3") };
const other = { ...own, version: "^2" };
const twoVersions: HelmOp["spec"] = { targets: [{ helm: { version: "^2" } }] };
const unreachable = new AppError(chartErrors.INDEX_FETCH, "get the index: connection refused");

describe("chart resolution of a HelmOp", () => {
  test("requests each chart once, with the HelmOp's settings", async () => {
    const { requests, resolver } = resolverOf({ "~1.2": httpPin("1.2.3"), "^2": httpPin("2.0.0") });

    const result = await resolveCharts(resolver, {
      release: aRelease(twoVersions),
      known: [],
      poll: false,
      settingsFor,
      signal,
    });

    assert.deepEqual(result, {
      pins: [ownPin, { ...other, pin: httpPin("2.0.0") }],
    });
    const access = { origin: repo, insecureSkipVerify: true };
    assert.deepEqual(requests, [
      { reference: "~1.2", access },
      { reference: "^2", access },
    ]);
  });

  test("requests only charts without a pin between two polls", async () => {
    const { requests, resolver } = resolverOf({ "^2": httpPin("2.0.0") });

    const result = await resolveCharts(resolver, {
      release: aRelease(twoVersions),
      known: [ownPin],
      poll: false,
      settingsFor,
      signal,
    });

    assert.deepEqual(result.pins, [ownPin, { ...other, pin: httpPin("2.0.0") }]);
    assert.deepEqual(
      requests.map(({ reference }) => reference),
      ["^2"],
    );
  });

  test("drops pins without a chart reference", async () => {
    const result = await resolveCharts(resolverOf({}).resolver, {
      release: aRelease(),
      known: [{ ...other, pin: httpPin("2.0.0") }, ownPin],
      poll: false,
      settingsFor,
      signal,
    });

    assert.deepEqual(result.pins, [ownPin]);
  });

  test("requests all charts at a poll and follows newer versions", async () => {
    const { resolver } = resolverOf({ "~1.2": httpPin("1.2.4") });

    const result = await resolveCharts(resolver, {
      release: aRelease(),
      known: [ownPin],
      poll: true,
      settingsFor,
      signal,
    });

    assert.deepEqual(result, { pins: [{ ...own, pin: httpPin("1.2.4") }] });
  });

  test("keeps the pin when a poll finds other bytes, and reports it", async () => {
    const { resolver } = resolverOf({ "~1.2": httpPin("1.2.3", digestB) });

    const result = await resolveCharts(resolver, {
      release: aRelease(),
      known: [ownPin],
      poll: true,
      settingsFor,
      signal,
    });

    const [{ note = "", ...kept } = ownPin] = result.pins;
    assert.deepEqual(kept, ownPin);
    assert.match(note, /published again/);
  });

  test("requests the pinned version of a pin that an agent cannot fetch, and replaces an unusable pin", async () => {
    const { requests, resolver } = resolverOf({ "1.2.3": httpPin("1.2.3", digestB) });
    const request = {
      release: aRelease(),
      known: [ownPin],
      poll: false,
      settingsFor,
      signal,
    };

    const replaced = await resolveCharts(resolver, { ...request, isUseless: () => true });
    const running = await resolveCharts(resolver, { ...request, isUseless: () => false });

    assert.deepEqual(replaced, { pins: [{ ...own, pin: httpPin("1.2.3", digestB) }] });
    assert.deepEqual(
      running.pins.map(({ pin, note = "" }) => [pin, note.includes("published again")]),
      [[ownPin.pin, true]],
    );
    assert.deepEqual(
      requests.map(({ reference }) => reference),
      ["1.2.3", "1.2.3"],
    );
  });

  test("notes problems of a version that can be used", async () => {
    const { resolver } = resolverOf({ "~1.2": httpPin("1.2.3", null) }, ["1.2.3 has no digest"]);

    const { pins } = await resolveCharts(resolver, {
      release: aRelease(),
      known: [],
      poll: false,
      settingsFor,
      signal,
    });

    assert.deepEqual(pins, [{ ...own, pin: httpPin("1.2.3", null), note: "1.2.3 has no digest" }]);
  });

  test("keeps a note until the next request, while the chart is referenced", async () => {
    const noted = { ...ownPin, note: "published again" };
    const known = [noted, { ...other, pin: httpPin("2.0.0"), note: "not reference any more" }];
    const request = { release: aRelease(), known, settingsFor, signal };

    const between = await resolveCharts(resolverOf({}).resolver, { ...request, poll: false });
    const failed = await resolveCharts(resolverOf({ "~1.2": unreachable }).resolver, {
      ...request,
      poll: true,
    });
    const polled = await resolveCharts(resolverOf({ "~1.2": httpPin("1.2.3") }).resolver, {
      ...request,
      poll: true,
    });

    assert.deepEqual(between.pins, [noted]);
    assert.deepEqual(failed.pins, [noted]);
    assert.deepEqual(polled.pins, [ownPin]);
  });

  test("keeps the pin when a poll fails, and reports the failure", async () => {
    const result = await resolveCharts(resolverOf({ "~1.2": unreachable }).resolver, {
      release: aRelease(),
      known: [ownPin],
      poll: true,
      settingsFor,
      signal,
    });

    assert.deepEqual(result.pins, [ownPin]);
    assert.deepEqual(result.failure, { error: unreachable, isPinned: true });
  });

  test("does not report an abort by the hub as a failure of the chart", async () => {
    const { resolver } = resolverOf({ "~1.2": unreachable });
    const request = { release: aRelease(), known: [ownPin], poll: true, settingsFor };

    await assert.rejects(resolveCharts(resolver, { ...request, signal: ended }), unreachable);
  });

  test("reports first the failure of a chart without a pin", async () => {
    const second = new AppError(chartErrors.CHART_NOT_FOUND, "no such chart");
    const result = await resolveCharts(resolverOf({ "~1.2": unreachable, "^2": second }).resolver, {
      release: aRelease(twoVersions),
      known: [ownPin],
      poll: true,
      settingsFor,
      signal,
    });

    assert.deepEqual(result.pins, [ownPin]);
    assert.deepEqual(result.failure, { error: second, isPinned: false });
  });

  test("reports a target without a source as a failure, without a request", async () => {
    const { requests, resolver } = resolverOf({});

    const result = await resolveCharts(resolver, {
      release: aRelease({ targets: [{ helm: { repo: "oci://registry.example.com/web" } }] }),
      known: [ownPin],
      poll: false,
      settingsFor,
      signal,
    });

    assert.equal(result.failure?.error.code, "CHART_SOURCE_INVALID");
    assert.equal(result.failure.isPinned, false);
    assert.deepEqual(requests, []);
  });
});
