/** A fleet with HelmReleases from Git: real servers over HTTPS and SSH, which record who asks them for what. */
import { mkdir } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { testDir } from "@flotilla/local/testing";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import {
  type GitRepository,
  type GitRepositorySpec,
  gitRepositories,
  type HelmChart,
  type HelmReleaseSpec,
  helmCharts,
} from "@flotilla/shared/flux";
import { type ObjectRef, secrets } from "@flotilla/shared/kube/objects";
import {
  createRepository,
  type GitHttpServer,
  type SshServer,
  startGitHttpServer,
  startSshServer,
  type TestRepository,
} from "@flotilla/shared/source/git/testing";
import { issueTestCertificate } from "@flotilla/shared/source/testing";
import { afterAll } from "vitest";
import type { TestFleetSpec } from "../harness/fleet.ts";
import { currentCondition, messageOf, waitForObject } from "../harness/wait.ts";
import { type ReleaseFleet, startReleaseFleet } from "./release-fleet.ts";

export type Files = Readonly<Record<string, string | Uint8Array | undefined>>;

/** A request of git over HTTPS. */
export interface GitCall {
  readonly by: "hub" | "agent";
  /** The name of the repository. */
  readonly name: string;
  /** `connect` is the first request of each run of git. */
  readonly what: "connect" | "ls-refs" | "fetch";
  readonly isAuthorized: boolean;
}

export interface GitFleet extends ReleaseFleet {
  readonly https: GitHttpServer;
  readonly ssh: SshServer;
  /** The data of the Secret `git`, which each namespace has: user name, password and the server's authority. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The data of the Secret `ssh`. */
  readonly identity: Readonly<Record<string, string>>;
  /** Over HTTPS, in the order of their arrival. */
  readonly calls: readonly GitCall[];
  /** A bare repository `NAME.git`, which both servers have. */
  repository(name: string): Promise<TestRepository>;
  /** A namespace with the Secrets `git` and `ssh`. */
  createGitNamespace(name: string): Promise<void>;
  createSecret(ref: ObjectRef, data: Readonly<Record<string, string>>): Promise<void>;
  /** For the repository with the name of the object, over HTTPS, unless the spec says otherwise. */
  createGit(ref: ObjectRef, spec?: Partial<GitRepositorySpec>): Promise<GitRepository>;
  /** `spec`: a merge patch of it. */
  patchGit(ref: ObjectRef, spec: unknown): Promise<void>;
  /** As `flux reconcile source git`; resolves when the request is handled. */
  reconcileGit(ref: ObjectRef): Promise<GitRepository>;
  waitForGit(
    ref: ObjectRef,
    what: string,
    isDesired: (repository: GitRepository) => boolean,
  ): Promise<GitRepository>;
  /** Ready with an artifact of this revision. */
  gitReady(ref: ObjectRef, revision: string): Promise<GitRepository>;
  /** Ready=False for this reason, and a condition of this type (False: SourceVerified) with this message. */
  gitFailed(ref: ObjectRef, type: string, reason: string, message: RegExp): Promise<GitRepository>;
  /** The generated HelmChart of a HelmRelease, when it is as desired. */
  waitForChart(
    release: ObjectRef,
    what: string,
    isDesired: (chart: HelmChart) => boolean,
  ): Promise<HelmChart>;
}

/** The `spec.chart` of a directory of a GitRepository. */
export function gitChart(
  repository: string,
  chart: string,
  more: Partial<NonNullable<HelmReleaseSpec["chart"]>["spec"]> = {},
): Pick<HelmReleaseSpec, "chart"> {
  return {
    chart: {
      spec: {
        chart,
        version: "*",
        reconcileStrategy: "ChartVersion",
        sourceRef: { kind: "GitRepository", name: repository },
        ...more,
      },
    },
  };
}

/** The files of a chart with one ConfigMap `RELEASE-config`: the version, the value `greeting`, and the text of `files/note.txt`. */
export function chartFiles(dir: string, version: string, more: Files = {}): Files {
  const name = dir.split("/").at(-1) ?? dir;
  const files: Files = {
    "Chart.yaml": `apiVersion: v2\nname: ${name}\nversion: ${version}\n`,
    "values.yaml": "greeting: hello\n",
    "templates/config.yaml": [
      "apiVersion: v1",
      "kind: ConfigMap",
      "metadata:",
      "  name: {{ .Release.Name }}-config",
      "data:",
      "  version: {{ .Chart.Version | quote }}",
      "  greeting: {{ .Values.greeting | quote }}",
      '  note: {{ .Files.Get "files/note.txt" | quote }}',
      "",
    ].join("\n"),
    ...more,
  };
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [join(dir, path), text] as const),
  );
}

/** What is requested is at the start of the body, which git does not compress when it is as short as that of a listing. */
function record(request: IncomingMessage, authorization: string, calls: GitCall[]): void {
  const { headers, method, url = "" } = request;
  const call = {
    by: headers["user-agent"]?.includes("flotilla-agent") === true ? "agent" : "hub",
    name: /^\/([^/]+)\.git\//.exec(url)?.[1] ?? url,
    isAuthorized: headers.authorization === authorization,
  } as const;
  if (method === "GET") calls.push({ ...call, what: "connect" });
  else
    request.once("data", (chunk: Buffer) => {
      const what = chunk.includes("command=ls-refs") ? "ls-refs" : "fetch";
      calls.push({ ...call, what });
    });
}

/** Lasts for the file. */
export async function startGitFleet(spec: Partial<TestFleetSpec> = {}): Promise<GitFleet> {
  const dir = await testDir({ onTestFinished: afterAll });
  const root = join(dir, "repositories");
  await mkdir(root);
  const username = "deploy";
  const password = "correct horse battery staple";
  const certificate = await issueTestCertificate();
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const calls: GitCall[] = [];
  const [releases, https, ssh] = await Promise.all([
    startReleaseFleet(spec),
    startGitHttpServer(root, {
      authorization,
      certificate,
      intercept(request) {
        record(request, authorization, calls);
        return false;
      },
    }),
    startSshServer(join(dir, "sshd"), root),
  ]);
  afterAll(() => Promise.all([https[Symbol.asyncDispose](), ssh[Symbol.asyncDispose]()]));
  const { hub } = releases;
  const credentials = { username, password, "ca.crt": certificate.caPem };
  const identity = { identity: ssh.identityPem, known_hosts: ssh.knownHosts };

  const createSecret: GitFleet["createSecret"] = async (ref, stringData) => {
    await hub.create(secrets, { metadata: { ...ref }, stringData });
  };
  const waitForGit: GitFleet["waitForGit"] = (ref, what, isDesired) =>
    waitForObject(hub, gitRepositories, ref, what, isDesired);
  let requests = 0;

  return {
    ...releases,
    https,
    ssh,
    credentials,
    identity,
    calls,
    repository: (name) => createRepository(root, `${name}.git`),
    async createGitNamespace(name) {
      await releases.createNamespace(name);
      await createSecret({ namespace: name, name: "git" }, credentials);
      await createSecret({ namespace: name, name: "ssh" }, identity);
    },
    createSecret,
    createGit: (ref, more) =>
      hub.create(gitRepositories, {
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "GitRepository",
        metadata: { ...ref },
        spec: {
          url: https.url(`${ref.name}.git`),
          interval: "1h",
          timeout: "60s",
          ref: { branch: "main" },
          secretRef: { name: "git" },
          ...more,
        },
      }),
    async patchGit(ref, body) {
      await hub.patch(gitRepositories, ref, { type: "merge", body: { spec: body } });
    },
    async reconcileGit(ref) {
      requests += 1;
      const token = `request-${requests}`;
      const annotations = { [reconcileRequestAnnotation]: token };
      await hub.patch(gitRepositories, ref, { type: "merge", body: { metadata: { annotations } } });
      return await waitForGit(
        ref,
        "reconciled",
        ({ status }) => status?.lastHandledReconcileAt === token,
      );
    },
    waitForGit,
    gitReady: (ref, revision) =>
      waitForGit(
        ref,
        `ready with ${revision}`,
        (found) =>
          currentCondition(found, "Ready")?.status === "True" &&
          found.status?.artifact?.revision === revision,
      ),
    gitFailed: (ref, type, reason, message) =>
      waitForGit(
        ref,
        `failed: ${type} ${reason} ${message}`,
        (found) =>
          currentCondition(found, "Ready")?.status === "False" &&
          currentCondition(found, type)?.reason === reason &&
          message.test(messageOf(found, type)),
      ),
    waitForChart: ({ namespace = "", name }, what, isDesired) =>
      waitForObject(hub, helmCharts, { namespace, name: `${namespace}-${name}` }, what, isDesired),
  };
}
