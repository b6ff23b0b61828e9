/** A control plane on which a chart of CRDs is installed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { type ApiClient, apiClient } from "@flotilla/local/control-plane";
import { waitUntil } from "@flotilla/local/process";
import { afterAll } from "vitest";
import { leaseControlPlane } from "../harness/control-planes.ts";
import { hangMs } from "../harness/hang.ts";
import { type Program, programFor } from "../harness/program.ts";

export interface CrdPlane {
  readonly api: ApiClient;
  /** The path of an administrator's. */
  readonly kubeconfig: string;
  readonly kubectl: Program;
  /** Resolves with the output of a run of helm or kubectl that succeeds. */
  succeed(program: "helm" | "kubectl", args: readonly string[], input?: string): Promise<string>;
  /** The status of each condition of a CRD, by type. */
  conditionsOf(crd: string): Promise<Readonly<Record<string, string>>>;
  /** The schema of the first version of a CRD, as the API server has it. */
  schemaOf(crd: string): Promise<unknown>;
}

/** Lasts for the file; resolves when the CRDs are established. */
export async function startCrdPlane(chart: string, crds: readonly string[]): Promise<CrdPlane> {
  const plane = await leaseControlPlane("bare");
  const binaries = await ensureBinaries(["kubectl", "helm"]);
  const kubectl = programFor(binaries.kubectl, plane.kubeconfig);
  const programs = { kubectl, helm: programFor(binaries.helm, plane.kubeconfig) };
  const api = apiClient(plane.server, { ca: plane.pki.ca, client: plane.pki.clients.admin });
  afterAll(() => api.close());

  async function read(crd: string) {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd}`;
    const { status, body } = await api.call("GET", path);
    assert.equal(status, 200, body);
    return JSON.parse(body) as {
      readonly spec: { readonly versions: readonly { readonly schema: unknown }[] };
      readonly status?: {
        readonly conditions?: readonly { readonly type: string; readonly status: string }[];
      };
    };
  }

  const started: CrdPlane = {
    api,
    kubeconfig: plane.kubeconfig,
    kubectl,
    async succeed(program, args, input) {
      const { code, stdout, stderr } = await programs[program](args, input);
      assert.equal(code, 0, `${program} ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    async conditionsOf(crd) {
      const { conditions = [] } = (await read(crd)).status ?? {};
      return Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
    },
    schemaOf: async (crd) => (await read(crd)).spec.versions[0]?.schema,
  };
  const dir = join(import.meta.dirname, "../../../charts", chart);
  await started.succeed("helm", ["install", chart, dir]);
  for (const crd of crds)
    await waitUntil(async () => (await started.conditionsOf(crd))["Established"] === "True", {
      what: `CRD ${crd}`,
      timeoutMs: hangMs,
    });
  return started;
}
