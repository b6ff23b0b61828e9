/** The Secrets and the account that the documents refer to, which a user of Flux creates beside them. */
import { namespaces, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { clusterRoleBindings } from "../harness/rbac.ts";
import { chartsLogin, type FormServers, proxyLogin } from "./form-servers.ts";

export const formNamespace = "flux-forms";
export const sharedNamespace = "flux-forms-shared";
export const receiverToken = "of-the-receivers";

type Keys = Readonly<Record<string, string>>;

export async function createFormObjects(hub: ClusterClient, servers: FormServers): Promise<void> {
  await hub.create(namespaces, { metadata: { name: sharedNamespace } });
  const { "registry-login": login, "registry-ca": ca, ...others } = secretsOf(servers);
  for (const namespace of [formNamespace, sharedNamespace]) {
    await hub.create(secrets, {
      metadata: { namespace, name: "registry-login" },
      type: "kubernetes.io/dockerconfigjson",
      stringData: login,
    });
    await hub.create(secrets, { metadata: { namespace, name: "registry-ca" }, stringData: ca });
  }
  for (const [name, stringData] of Object.entries(others))
    await hub.create(secrets, { metadata: { namespace: formNamespace, name }, stringData });
  const account = { namespace: formNamespace, name: "harbour-deployer" };
  await hub.create(serviceAccounts, { metadata: account });
  await hub.create(clusterRoleBindings, {
    metadata: { name: "harbour-deployer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...account }],
  });
}

/** With the keys of Flux, by the name of the Secret. */
function secretsOf(servers: FormServers) {
  const { certificate, registry, git, bucket, proxy, sink } = servers;
  const authority = { "ca.crt": certificate.caPem };
  const all = {
    "harbour-charts-login": chartsLogin,
    "harbour-charts-ca": authority,
    "registry-login": { ".dockerconfigjson": registry.dockerConfig },
    "registry-ca": { "ca.crt": registry.registry.ca?.pem ?? "" },
    "ferry-keys": { "cosign.pub": registry.publicKeyPem },
    "buoy-keys": { "team.pub": registry.publicKeyPem },
    "harbour-apps-token": { ...git.login, ...authority },
    "harbour-ssh": { identity: git.ssh.identityPem, known_hosts: git.ssh.knownHosts },
    "harbour-authors": { "author.sshpub": git.authorKey },
    "harbour-builds-keys": { accesskey: bucket.keys.accessKey, secretkey: bucket.keys.secretKey },
    "harbour-builds-ca": { "ca.crt": bucket.caPem ?? "" },
    proxy: { address: `http://${proxy.host}`, ...proxyLogin },
    "pier-database": { password: "{a,b}" },
    "pier-certificate": { "tls.crt": "certificate" },
    "chat-token": { token: "of-the-chat" },
    "webhook-token": { token: "of-the-webhook" },
    "webhook-ca": authority,
    "generic-address": { address: `${sink.url}/generic`, headers: "X-Harbour: east\n" },
    "alertmanager-login": { username: "watch", password: "of-the-alertmanager" },
    "grafana-token": { token: "of-the-grafana" },
    "github-token": { token: "of-the-github" },
    "gitlab-token": { token: "of-the-gitlab" },
    "gitea-token": { token: "of-the-gitea" },
    "receiver-token": { token: receiverToken },
    "gcr-token": { token: receiverToken, email: "pusher@example.org", audience: "harbour" },
  } satisfies Readonly<Record<string, Keys>>;
  return all;
}
