/** The hub's flags, parsed and checked. The only file that reads the environment. */
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors";
import { type LogLevel, logLevels } from "@flotilla/shared/log";
import {
  formatListenAddress,
  type ListenAddress,
  parseListenAddress,
} from "@flotilla/shared/program";
import { isNetwork, type ProxySettings, proxySettings } from "@flotilla/shared/source/transport";
import { parseGoDuration } from "@flotilla/shared/time";
import {
  type OidcConfig,
  oidcFlags,
  oidcUsage,
  parseOidcConfig,
} from "./console/oidc/config/index.ts";

/** Which addresses are contacted for tenants. */
export interface EgressConfig {
  readonly allowLoopback: boolean;
  readonly denyPrivate: boolean;
  /** Whether private addresses are denied to Providers. */
  readonly denyPrivateNotifications: boolean;
  readonly denyApiServer: boolean;
  /** Networks and addresses. */
  readonly denied: readonly string[];
}

export interface HubConfig {
  /** Absent: in-cluster. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly grpcListen: ListenAddress;
  /** Public HTTP: the dashboard, webhooks, and requests of users to agents. */
  readonly httpListen: ListenAddress;
  /** HTTPS for the other replicas alone. */
  readonly replicaListen: ListenAddress;
  /** Health and metrics; not meant for an Ingress. */
  readonly internalListen: ListenAddress;
  /** The address that agents connect to, `host:port`; "" means the gRPC port on this machine. */
  readonly advertise: string;
  /** Names and addresses in the serving certificate besides the machine's own. */
  readonly serverNames: readonly string[];
  /** The lifetime of the certificates of agents. */
  readonly certificateLifetimeMs: number;
  /** The name of this replica. */
  readonly replica: string;
  /** The IP address or name by which other replicas reach this one; "": the address in `replicaListen`. */
  readonly replicaHost: string;
  readonly logLevel: LogLevel;
  readonly egress: EgressConfig;
  /** The header in which an ingress passes on the address of a webhook's caller; absent: there is none. */
  readonly clientAddressHeader?: string;
  /** Whether sources, Alerts and Receivers may refer to objects of other namespaces. */
  readonly crossNamespaceReferences: boolean;
  /** Whose tokens Receivers of type gcr accept: Google's address. */
  readonly gcrIssuer: string;
  /** Run although Leases of Fleet's controllers exist, once they have expired. */
  readonly takeOverFromFleet: boolean;
  /** Reconcile Flux's kinds although Leases of Flux's controllers exist. */
  readonly takeOverFromFlux: boolean;
  /** Where Flux's controllers have their Leases; Leases in other namespaces decide nothing. */
  readonly fluxNamespaces: readonly string[];
  /** Whether a HelmRelease on the hub's own cluster needs a service account. */
  readonly requireLocalAccount: boolean;
  /** Whether every deployment needs a service account, as if each namespace had a Policy that requires one. */
  readonly requireServiceAccount: boolean;
  /** Whether approvals count whose names the API server has not checked. */
  readonly unverifiedApprovals: boolean;
  /** Whether the hub makes the bootstrap Secret of the agent of its own cluster. */
  readonly enrolsLocalCluster: boolean;
  /** The folder with the files of the dashboard's page. */
  readonly dashboardDir: string;
  /** Login to the dashboard with OpenID Connect; absent: with tokens of the API server alone. */
  readonly oidc?: OidcConfig;
  /** For chart repositories; absent: none. */
  readonly proxy?: ProxySettings;
  /** The file with further certificate authorities, which Node reads when it starts; absent: none. */
  readonly extraAuthorities?: string;
}

export const hubUsage = `Usage: flotilla-hub [flags]

  --kubeconfig FILE            of the hub's cluster; default: $KUBECONFIG, else the pod's service account
  --context NAME               of the kubeconfig; default: its current one
  --grpc-listen HOST:PORT      where agents connect; default :8443
  --http-listen HOST:PORT      public HTTP: the dashboard, /hook/, /hooks/ and /requests/; default :8080
  --replica-listen HOST:PORT   HTTPS with certificates of the hub, for its other replicas; default :8444
  --internal-listen HOST:PORT  /healthz, /readyz and /metrics; default :8081
  --client-address-header H    the header that an ingress before /hook/ and /hooks/ adds the caller's address to
  --advertise HOST:PORT        the address that agents connect to
  --server-name NAME           a name or address that agents reach the hub by; may be repeated
  --egress-loopback POLICY     whether charts may come from this machine: allow or deny; default deny
  --egress-private POLICY      whether charts may come from private networks: allow or deny; default allow
  --egress-notifications-private POLICY
                               whether Providers may be in private networks; default: as --egress-private
  --egress-api-server POLICY   whether charts and Providers may be at the API server of the hub: default deny
  --egress-deny NETWORK        an address or a network, such as 10.96.0.0/12, that is denied as well; may be repeated
  --cross-namespace-references sources, Alerts and Receivers may refer to objects of other namespaces
  --gcr-issuer URL             whose tokens Receivers of type gcr accept; default https://accounts.google.com
  --certificate-lifetime D     of agents' certificates; default 24h
  --enrol-local-cluster        make the Secret with which the agent of the hub's own cluster enrols as fleet-local/local
  --unverified-approvals       approvals of Gates count although the API server has not checked who wrote them
  --require-service-account    every deployment needs a service account, as if each namespace had a Policy that requires one
  --local-without-account      HelmReleases on the hub's own cluster need no service account
  --flux-namespace NAME        where Flux's controllers would run, and have their Leases; may be repeated; default flux-system
  --take-over-from-flux        reconcile Flux's kinds where its controllers have run, and run no more
  --take-over-from-fleet       run where Fleet's controllers have run, once their Leases have expired
  --dashboard-dir DIR          the built files of the dashboard; default: beside the program
${oidcUsage}  --replica NAME               of this process; default: the host's name
  --replica-host HOST          by which other replicas reach --replica-listen, such as the IP address of the pod
  --log-level LEVEL            ${logLevels.join(", ")}; default info
  --probe=URL                  only ask this URL, such as http://127.0.0.1:8081/readyz; fails unless the answer is a success

HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply to chart repositories and to the OpenID provider. The file in NODE_EXTRA_CA_CERTS is read
again when it changes.
`;

/** Beside a bundled program, which is in a folder `bin`. */
const besideProgram = fileURLToPath(new URL("../dashboard", import.meta.url));

/** Throws CONFIG_INVALID, whose message names the flag. */
export function parseHubConfig(args: readonly string[], environment: NodeJS.ProcessEnv): HubConfig {
  const flags = readFlags(args);
  const kubeconfig = flags.kubeconfig ?? environment["KUBECONFIG"];
  const lifetimeMs = parseGoDuration(flags["certificate-lifetime"]);
  if (lifetimeMs === undefined || lifetimeMs < 60_000) {
    throw invalid(
      `--certificate-lifetime is "${flags["certificate-lifetime"]}", which is not a duration of at least one minute (such as 24h)`,
    );
  }
  const logLevel = logLevels.find((level) => level === flags["log-level"]);
  if (logLevel === undefined)
    throw invalid(
      `--log-level is "${flags["log-level"]}", which is none of ${logLevels.join(", ")}`,
    );
  const proxy = proxySettings(environment);
  const oidc = parseOidcConfig(flags);
  const extraAuthorities = environment["NODE_EXTRA_CA_CERTS"];
  return {
    ...(kubeconfig !== undefined && kubeconfig !== "" && { kubeconfig }),
    ...(flags.context !== undefined && { context: flags.context }),
    grpcListen: parseListenAddress(flags["grpc-listen"], "--grpc-listen"),
    httpListen: parseListenAddress(flags["http-listen"], "--http-listen"),
    replicaListen: parseListenAddress(flags["replica-listen"], "--replica-listen"),
    internalListen: parseListenAddress(flags["internal-listen"], "--internal-listen"),
    advertise: flags.advertise,
    serverNames: flags["server-name"],
    certificateLifetimeMs: lifetimeMs,
    replica: flags.replica ?? hostname(),
    replicaHost: flags["replica-host"],
    crossNamespaceReferences: flags["cross-namespace-references"],
    gcrIssuer: flags["gcr-issuer"],
    takeOverFromFleet: flags["take-over-from-fleet"],
    takeOverFromFlux: flags["take-over-from-flux"],
    fluxNamespaces: flags["flux-namespace"],
    requireLocalAccount: !flags["local-without-account"],
    requireServiceAccount: flags["require-service-account"],
    unverifiedApprovals: flags["unverified-approvals"],
    enrolsLocalCluster: flags["enrol-local-cluster"],
    logLevel,
    dashboardDir: flags["dashboard-dir"],
    egress: egressOf(flags),
    ...(flags["client-address-header"] !== "" && {
      clientAddressHeader: flags["client-address-header"],
    }),
    ...(proxy !== undefined && { proxy }),
    ...(extraAuthorities && { extraAuthorities }),
    ...(oidc !== undefined && { oidc }),
  };
}

/** The names in the hub's serving certificate, by which agents may reach it. The advertised name is the first. */
export function serverNames(
  config: Pick<HubConfig, "advertise" | "serverNames">,
): readonly string[] {
  const advertised = /^\[?(.+?)\]?:\d+$/.exec(config.advertise)?.[1];
  return [
    ...new Set([
      ...(advertised === undefined ? [] : [advertised]),
      ...config.serverNames,
      hostname(),
      "localhost",
      "127.0.0.1",
    ]),
  ];
}

/** `host:port` by which other replicas reach their port; undefined: not known, since it is open on all addresses. */
export function replicaAddress(
  { replicaHost, replicaListen }: Pick<HubConfig, "replicaHost" | "replicaListen">,
  port: number,
): string | undefined {
  const host = replicaHost === "" ? replicaListen.host : replicaHost;
  return host === "0.0.0.0" || host === "::" ? undefined : formatListenAddress({ host, port });
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        kubeconfig: { type: "string" },
        context: { type: "string" },
        "grpc-listen": { type: "string", default: ":8443" },
        "http-listen": { type: "string", default: ":8080" },
        "replica-listen": { type: "string", default: ":8444" },
        "internal-listen": { type: "string", default: ":8081" },
        advertise: { type: "string", default: "" },
        "server-name": { type: "string", multiple: true, default: [] },
        "certificate-lifetime": { type: "string", default: "24h" },
        "client-address-header": { type: "string", default: "" },
        "egress-loopback": { type: "string", default: "deny" },
        "egress-private": { type: "string", default: "allow" },
        "egress-notifications-private": { type: "string" },
        "egress-api-server": { type: "string", default: "deny" },
        "egress-deny": { type: "string", multiple: true, default: [] },
        "cross-namespace-references": { type: "boolean", default: false },
        "local-without-account": { type: "boolean", default: false },
        "require-service-account": { type: "boolean", default: false },
        "unverified-approvals": { type: "boolean", default: false },
        "enrol-local-cluster": { type: "boolean", default: false },
        "flux-namespace": { type: "string", multiple: true, default: ["flux-system"] },
        "gcr-issuer": { type: "string", default: "https://accounts.google.com" },
        "dashboard-dir": { type: "string", default: besideProgram },
        ...oidcFlags,
        replica: { type: "string" },
        "replica-host": { type: "string", default: "" },
        "take-over-from-fleet": { type: "boolean", default: false },
        "take-over-from-flux": { type: "boolean", default: false },
        "log-level": { type: "string", default: "info" },
      },
    }).values;
  } catch (thrown) {
    throw invalid(messageOf(thrown));
  }
}

function egressOf(flags: ReturnType<typeof readFlags>): EgressConfig {
  const denied = flags["egress-deny"];
  const wrong = denied.find((text) => !isNetwork(text));
  if (wrong !== undefined)
    throw invalid(
      `--egress-deny is "${wrong}", which is neither a network (such as 10.96.0.0/12) nor an address`,
    );
  const ofNotifications = flags["egress-notifications-private"] ?? flags["egress-private"];
  return {
    allowLoopback: isAllowed("egress-loopback", flags["egress-loopback"]),
    denyPrivate: !isAllowed("egress-private", flags["egress-private"]),
    denyPrivateNotifications: !isAllowed("egress-notifications-private", ofNotifications),
    denyApiServer: !isAllowed("egress-api-server", flags["egress-api-server"]),
    denied,
  };
}

function isAllowed(flag: string, value: string): boolean {
  if (value !== "allow" && value !== "deny")
    throw invalid(`--${flag} is "${value}", which is neither allow nor deny`);
  return value === "allow";
}

function invalid(message: string): AppError {
  return new AppError(commonErrors.CONFIG_INVALID, message);
}
