/** The preparer of Bundles with its dependencies, and a Bundle of the chart `web` with the pins that it gets. */
import type { Bundle, BundleDeployment, HelmOp, Policy } from "@flotilla/shared/api";
import type { RolloutPolicy } from "@flotilla/shared/api/rollout";
import { createStore } from "@flotilla/shared/kube/cache";
import { aContext } from "@flotilla/shared/kube/testing";
import { createPatterns } from "@flotilla/shared/regex";
import type { Resolver } from "@flotilla/shared/source/client";
import { createFakeClock, type FakeClock } from "@flotilla/shared/time/testing";
import { createChartResolver } from "../../../rules/resolve/chart-resolver.ts";
import { createPinSigner } from "../../../rules/resolve/pin-signature.ts";
import { createRolloutStrategies } from "../../../rules/rollout/rollout-strategies.ts";
import { chartNotFetched } from "../../../rules/summary/deployment-state.ts";
import { aBundle, aDeployment, httpPin } from "../../../testing/index.ts";
import { bundlePreparer, type OwnerOf, type Prepared } from "../prepare.ts";

const repo = "https://charts.example.com";
export const helm = { repo, chart: "web", version: "~1.2" };
export const pins = [{ ...helm, pin: httpPin("1.2.9") }];
export const targets = [{ name: "all", clusterSelector: {} }];

/** A Bundle without a HelmOp. */
export function direct(spec: Bundle["spec"] = {}, status?: Bundle["status"]): Bundle {
  return aBundle({ helm, targets, ...spec }, { labels: {} }, status);
}

export const signer = createPinSigner(Buffer.from("key"));

export interface TestPreparer {
  readonly requestedVersions: readonly string[];
  /** Whether the responses of the repository may be shown, for each access to one. */
  readonly shown: readonly (boolean | undefined)[];
  readonly clock: FakeClock;
  readonly policyStore: { remove(policy: Policy): unknown };
  /** An agent fails to fetch the pinned chart. */
  failFetch(): void;
  prepare(bundle: Bundle): Promise<Prepared>;
  /** The remarks of attempts that take long. */
  readonly retrying: (readonly string[])[];
}

/** `answers`: the repository's responses in order. */
export function createPreparer({
  policies = [],
  helmOps = [],
  answers = [],
  ownerOf = () => undefined,
  slow = Promise.resolve(),
}: {
  readonly policies?: readonly Policy[];
  readonly helmOps?: readonly HelmOp[];
  readonly answers?: readonly (string | Error)[];
  readonly ownerOf?: OwnerOf;
  /** The responses come once this has passed. */
  readonly slow?: Promise<void>;
}): TestPreparer {
  const requestedVersions: string[] = [];
  const resolver: Resolver = {
    async resolve(_source, version) {
      const answer = answers[requestedVersions.length];
      requestedVersions.push(version);
      await slow;
      if (typeof answer === "string") return { pin: httpPin(answer), problems: [] };
      throw answer ?? new Error(`unexpected request for ${version}`);
    },
  };
  const policyStore = createStore<Policy>();
  for (const policy of policies) policyStore.set(policy);
  const helmOpStore = createStore<HelmOp>();
  for (const helmOp of helmOps) helmOpStore.set(helmOp);
  const clock = createFakeClock();
  const deployments = createStore<BundleDeployment>();
  const shown: (boolean | undefined)[] = [];
  const retrying: (readonly string[])[] = [];
  const onRetrying = (remarks: readonly string[]): void => void retrying.push(remarks);
  const prepareBundle = bundlePreparer({
    strategies: createRolloutStrategies(createStore<RolloutPolicy>()),
    awaited: { cycleOf: () => undefined },
    references: { remarksOn: () => [] },
    helmOps: helmOpStore,
    policies: policyStore,
    patterns: createPatterns(),
    access: {
      of: (_, options) => {
        shown.push(options?.showsResponses);
        return Promise.resolve({ settingsFor: () => ({}), version: "" });
      },
      keysUsing: () => [],
      forget: () => undefined,
    },
    charts: createChartResolver({ resolver, deployments, clock, hubId: "hub" }),
    signer,
    ownerOf,
  });
  return {
    requestedVersions,
    shown,
    clock,
    policyStore,
    failFetch: () =>
      void deployments.set(
        aDeployment("paris", {
          status: {
            conditions: [
              {
                type: "Deployed",
                status: "False",
                reason: chartNotFetched,
                observedGeneration: 1,
              },
            ],
          },
        }),
      ),
    retrying,
    prepare: (bundle: Bundle) =>
      prepareBundle(bundle, bundle.status, { ...aContext(), onRetrying }),
  };
}
