/** The controller of HelmRepositories with a source that the test sets. */
import assert from "node:assert/strict";
import { type HelmRepository, helmRepositories } from "@flotilla/shared/flux";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { createFakeClock } from "@flotilla/shared/time/testing";
import type { TestContext } from "vitest";
import { createSourceController, type SourceInputs } from "../source-controller.ts";
import { SourceError } from "../source-error.ts";
import type { SourceResult } from "../source-status.ts";
import { namespace, startTestSources } from "./test-sources.ts";

const minute = 60_000;

/** What a source has at this revision. */
export function revision(text: string): SourceResult {
  const url = "https://charts.example.com/index.yaml";
  const digest = `sha256:${text.padEnd(64, "0")}`;
  return { artifact: { revision: text, digest, url, path: "p" }, message: `stored '${text}'` };
}

export const refused = new SourceError(
  "Failed",
  "GET https://charts.example.com: connection refused",
);

/** The controller of HelmRepositories on a fake clock, whose address has `current`, or fails with it. */
export async function startTestRepository(
  t: TestContext,
  first: SourceResult | Error = revision("1"),
) {
  const clock = createFakeClock();
  const sources = await startTestSources(t, { clock });
  const address = {
    ...{ current: first, reads: 0, inputs: "", password: "", damaged: false },
    /** The answers come once this has passed. */
    slow: Promise.resolve(),
  };
  const writes = countStatuses(sources.rest);
  const { controller, statuses } = createSourceController<HelmRepository>(
    {
      name: "helmrepository",
      resource: helmRepositories,
      isRead: ({ spec }) => spec?.type !== "oci",
      intervalOf: ({ spec }) => spec?.interval,
      addressOf: ({ spec }) => spec?.url ?? "",
      secretsOf: ({ spec }) => (spec?.secretRef === undefined ? [] : [spec.secretRef.name]),
      inputsOf: () => address.inputs,
      isDamaged: () => address.damaged,
      async read(object: HelmRepository, { secret }: SourceInputs) {
        address.reads += 1;
        const { data } = secret(object.spec?.secretRef?.name ?? "") ?? {};
        address.password = Buffer.from(data?.["password"] ?? "", "base64").toString();
        await address.slow;
        const { current } = address;
        if (current instanceof Error) throw current;
        return current;
      },
    },
    sources.flux.helmRepositories,
    sources.deps,
  );
  sources.run(controller);
  const repository = () => sources.get(helmRepositories, "charts");
  return {
    ...sources,
    ...{ clock, address, statuses, repository, writes },
    create: (object: Partial<HelmRepository> = {}) =>
      sources.rest.put(helmRepositories, { ...aRepository, ...object }),
    change: (change: Parameters<typeof sources.change<HelmRepository>>[2]) =>
      sources.change(helmRepositories, "charts", change),
    condition: (type: string) => sources.condition(helmRepositories, "charts", type),
    /** Waits for the write of the result of that many reads. */
    async read(times: number): Promise<void> {
      await sources.until(() => {
        const { polling, conditions } = repository()?.status ?? {};
        const isWritten = polling !== undefined && conditions?.[0]?.reason !== "Progressing";
        return address.reads >= times && isWritten ? true : undefined;
      });
      await clock.advance(0);
      assert.equal(address.reads, times);
    },
    /** The time passes in steps, and whatever is due then is done. */
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= minute) await clock.advance(Math.min(left, minute));
    },
  };
}

export const repositorySpec: NonNullable<HelmRepository["spec"]> = {
  ...{ url: "https://charts.example.com", interval: "10m", provider: "generic" },
};
export const aRepository: HelmRepository = {
  metadata: { name: "charts", namespace, uid: "u-1", generation: 1 },
  spec: repositorySpec,
};

/** The number of statuses that were written. */
function countStatuses(rest: Pick<KubeRest, "replace">): { count: number } {
  const writes = { count: 0 };
  const { replace } = rest;
  rest.replace = (...args) => {
    writes.count += 1;
    return replace(...args);
  };
  return writes;
}

/** Passed once it was opened. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}
