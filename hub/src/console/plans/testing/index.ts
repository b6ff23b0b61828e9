/** The route of plans at a port, with agents that answer and an API server in memory. */
import assert from "node:assert/strict";
import {
  type Bundle,
  type BundleDeployment,
  bundleDeployments,
  clusters,
} from "@flotilla/shared/api";
import { answerLineSchema } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { type FleetPlan, fleetPlanSchema } from "@flotilla/shared/plan";
import { startHttpServer } from "@flotilla/shared/program";
import { createPatterns } from "@flotilla/shared/regex";
import { chartErrors } from "@flotilla/shared/source";
import { systemClock } from "@flotilla/shared/time";
import { onTestFinished } from "vitest";
import { type AgentAnswer, createContentPacker, type PlanTarget } from "../../../rollout/index.ts";
import { answered } from "../../../rollout/plan/testing/index.ts";
import {
  createChartAccess,
  createMappings,
  createPinSigner,
  createRolloutStrategies,
  policiesIn,
} from "../../../rules/index.ts";
import {
  aBundle,
  aCluster,
  aDeployment,
  createTestCaches,
  digestA,
  httpPin,
} from "../../../testing/index.ts";
import { planRoute } from "../route.ts";

const path = "/requests/v1/namespaces/fleet-default/helmops/web/plan";
const token = "a.b.c";

export interface PlanServerSetUp {
  readonly answers?: Readonly<Record<string, AgentAnswer>>;
  readonly isAllowed?: boolean;
  readonly isTrusted?: (deployment: BundleDeployment) => boolean;
  readonly spec?: Bundle["spec"];
  /** The right that the API server says no to, as `VERB RESOURCE`. */
  readonly lacks?: string;
}

/** A hub with the HelmOp `web`, on the clusters `ams`, `ber` and `cgn`. */
export async function servePlans({
  answers = {},
  isAllowed = true,
  isTrusted = () => true,
  spec = {},
  lacks,
}: PlanServerSetUp = {}) {
  const server = createMemoryApiServer();
  const caches = createTestCaches();
  caches.bundles.saw(aBundle(spec));
  for (const name of ["ams", "ber", "cgn"]) {
    caches.clusters.saw(server.put(clusters, aCluster(name)));
    caches.deployments.saw(server.put(bundleDeployments, aDeployment(name)));
  }
  const asked: string[] = [];
  const targets: PlanTarget[] = [];
  const signer = createPinSigner(Buffer.alloc(32));
  const reviewed: unknown[] = [];
  const route = planRoute({
    rest: {
      get: (...args) => server.get(...args),
      raw(url, options = {}) {
        const review: unknown = JSON.parse(options.body ?? "{}");
        reviewed.push(review);
        const user = { username: "alice" };
        const authenticated = { authenticated: true, audiences: ["flotilla-requests"], user };
        const allowed = isAllowed && (lacks === undefined || rightOf(review) !== lacks);
        const status = url.includes("tokenreviews") ? authenticated : { allowed };
        return Promise.resolve(JSON.stringify({ status }));
      },
    },
    bundles: caches.bundles.store,
    clusters: caches.clusters.store,
    groups: caches.groups.store,
    deployments: caches.deployments.store,
    rollouts: { of: () => [] },
    mappings: createMappings(caches),
    policy: { policies: caches.policies.store, patterns: createPatterns() },
    strategies: createRolloutStrategies(caches.rolloutPolicies.store),
    isTrusted,
    helmOps: caches.helmOps.store,
    resolver: {
      resolve(_source, constraint) {
        if (constraint.startsWith("9"))
          return Promise.reject(
            new AppError(chartErrors.CHART_VERSION_NOT_FOUND, `no version matches ${constraint}`),
          );
        return Promise.resolve({ pin: httpPin(`${constraint.replace("~", "")}.0`), problems: [] });
      },
    },
    access: createChartAccess({
      objects: {
        watch: () => undefined,
        unwatch: () => undefined,
        known: () => Promise.resolve({ kind: "absent" }),
      },
      log: silentLog(),
    }),
    packer: createContentPacker(),
    values: { of: () => Promise.resolve(undefined), forget: () => undefined },
    pinsOf: signer.pinsOf,
    policiesIn: (namespaces) => policiesIn(caches.policies.store, namespaces, {}),
    ask(target) {
      const { cluster, deploymentId } = target;
      targets.push(target);
      asked.push(`${cluster} ${deploymentId === digestA ? "A" : "other"}`);
      return Promise.resolve(answers[cluster] ?? answered("image", "+image\n"));
    },
    notReady: () => undefined,
    clock: systemClock,
    log: silentLog(),
  });
  const http = await startHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    routes: { "/requests/": route },
  });
  onTestFinished(() => http.close());
  async function get(query = ""): Promise<Response> {
    return await fetch(`http://${http.address}${path}${query}`, {
      headers: { "flotilla-token": token },
    });
  }
  async function plan(query = ""): Promise<FleetPlan> {
    const response = await get(query);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const [line = ""] = text.split("\n");
    const read = answerLineSchema.parse(JSON.parse(line));
    return fleetPlanSchema.parse(JSON.parse("data" in read ? read.data : ""));
  }
  async function propose(body: unknown, query = ""): Promise<Response> {
    return await fetch(`http://${http.address}${path}${query}`, {
      method: "POST",
      headers: { "flotilla-token": token },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }
  return { caches, server, get, plan, propose, asked, targets, reviewed, signer };
}

interface AccessReview {
  readonly spec?: {
    readonly resourceAttributes?: { readonly verb: string; readonly resource: string };
  };
}

function rightOf(review: unknown): string {
  const { verb, resource } = (review as AccessReview).spec?.resourceAttributes ?? {};
  return `${verb} ${resource}`;
}
