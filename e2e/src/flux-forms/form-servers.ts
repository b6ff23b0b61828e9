/** The servers that the documents name, started on this machine, with what the documents expect there. */
import type { BucketServer } from "@flotilla/local/registries";
import { startTestBucketServer, type TestScope } from "@flotilla/local/testing";
import {
  issueTestCertificate,
  startHttpProxy,
  type TestCertificate,
  type TestProxy,
} from "@flotilla/shared/source/testing";
import {
  type AuthenticatedCharts,
  startAuthenticatedCharts,
} from "../harness/authenticated-charts.ts";
import { type Sink, startSink } from "../notification/sink.ts";
import { chartFiles, registryCharts, repositoryCharts } from "./form-charts.ts";
import type { Replacements } from "./form-documents.ts";
import { type FormGit, startFormGit } from "./form-git.ts";
import { type FormRegistry, startFormRegistry } from "./form-registry.ts";

export interface FormServers {
  /** The certificate of the chart repository, the Git repositories and the sink with TLS. */
  readonly certificate: TestCertificate;
  readonly charts: AuthenticatedCharts;
  readonly registry: FormRegistry;
  readonly git: FormGit;
  readonly bucket: BucketServer;
  readonly proxy: TestProxy;
  /** Takes events. */
  readonly sink: Sink;
  readonly tlsSink: Sink;
  /** What the documents have, and what is there in this run. */
  readonly replacements: Replacements;
}

export const chartsLogin = { username: "mate", password: "of-the-charts" };
export const proxyLogin = { username: "pilot", password: "of-the-proxy" };

export async function startFormServers(scope: TestScope, helm: string): Promise<FormServers> {
  const certificate = await issueTestCertificate();
  const [charts, registry, git, bucket, proxy, sink, tlsSink] = await Promise.all([
    startAuthenticatedCharts(chartsLogin, certificate),
    startFormRegistry(scope, helm, await registryCharts()),
    startFormGit(scope, certificate),
    startFormBucket(scope),
    startHttpProxy(proxyLogin),
    startSink(),
    startSink({ cert: certificate.certPem, key: certificate.keyPem }),
  ]);
  scope.onTestFinished(async () => {
    await Promise.all([charts[Symbol.asyncDispose](), proxy[Symbol.asyncDispose]()]);
    await Promise.all([sink.close(), tlsSink.close()]);
  });
  for (const archive of await repositoryCharts()) charts.publish(archive);
  const replacements = {
    "https://charts.example.org/stable": charts.origin,
    "oci://registry.example.org": registry.registry.oci,
    "https://git.example.org": git.https.origin,
    "ssh://git@git.example.org/harbour/releases.git": git.ssh.url("harbour/releases.git"),
    "storage.example.org": bucket.endpoint,
    "https://hooks.example.org": tlsSink.url,
    "https://slack.com/api/chat.postMessage": `${sink.url}/chat`,
    "https://events.pagerduty.example.org": `${sink.url}/pagerduty`,
    "https://teams.example.org": `${sink.url}/teams`,
    "https://discord.example.org": `${sink.url}/discord`,
    "https://alertmanager.example.org": `${sink.url}/alertmanager`,
    "https://grafana.example.org": `${sink.url}/grafana`,
    "https://github.com": `${sink.url}/github`,
    "https://gitlab.example.org": `${sink.url}/gitlab`,
    "https://gitea.example.org": `${sink.url}/gitea`,
    // What is published again in each run has another digest each time.
    "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae":
      await registry.digestOf("charts/buoy:1.3.0"),
    "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12": git.firstCommit,
  };
  return { certificate, charts, registry, git, bucket, proxy, sink, tlsSink, replacements };
}

async function startFormBucket(scope: TestScope): Promise<BucketServer> {
  const bucket = await startTestBucketServer(scope, { tls: true, region: "eu-west-1" });
  await bucket.createBucket("harbour-builds");
  const files = {
    ...chartFiles("releases/dredger", "0.3.0", "depth: 12\n"),
    "releases/dredger/values.bak": "depth: 0\n",
    "drafts/other.txt": "not below the prefix\n",
  };
  for (const [key, text] of Object.entries(files)) await bucket.put("harbour-builds", key, text);
  return bucket;
}
