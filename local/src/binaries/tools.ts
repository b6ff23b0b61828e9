/**
 * The programs of a local fleet: version, download and build. Versions are pinned here and in local/tools/<module>/go.mod; a test
 * compares the two.
 */
import { fileURLToPath } from "node:url";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { AppError } from "@flotilla/shared/errors";
import type { Publisher } from "../config.ts";
import { localErrors } from "../errors.ts";

export const toolNames = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubectl",
  "helm",
  "kustomize",
  "confine",
  "relay",
  "helmfile",
  "kwok",
  "registry",
  "versitygw",
] as const;
export type ToolName = (typeof toolNames)[number];

/** GOOS and GOARCH. */
export interface Platform {
  readonly os: "linux" | "darwin";
  readonly arch: "amd64" | "arm64";
}

/** A download for one platform: the file, the file with its checksum, and the path of the program in it. */
export interface Download {
  readonly publisher: Publisher;
  /** Relative to the base URL of the publisher. */
  readonly path: string;
  readonly checksumPath: string;
  /** The path of the program inside a tar.gz; absent when the file is the program itself. */
  readonly member?: string;
}

export interface GoBuild {
  /** The folder with go.mod. */
  readonly dir: string;
  /** The module that has the version of the tool. Absent: the sources are in the folder itself. */
  readonly module?: string;
  readonly package: string;
  /** Besides `-s -w`. */
  readonly ldflags: readonly string[];
  readonly tags?: readonly string[];
  /** On two cores with an empty build cache; only printed. */
  readonly expectedSeconds: number;
}

/** How a program on the PATH shows that it may be used. */
export interface VersionCheck {
  /** Arguments that print the version, and a pattern whose group is the version. */
  readonly arguments: readonly string[];
  readonly pattern: RegExp;
  /** Versions that are accepted: the same major, or the same major and minor. */
  readonly accept: "major" | "minor";
  /** On Linux it runs in the agent's sandbox, where nothing else may be executed. */
  readonly standalone?: true;
}

export interface Tool {
  readonly name: ToolName;
  readonly version: string;
  /** Absent: a program on the PATH is not used. */
  readonly onPath?: VersionCheck;
  /** `undefined` when the publisher has no file, or no checksum, for the platform. */
  download(platform: Platform): Download | undefined;
  readonly build: GoBuild;
}

const kubernetesVersion = "v1.36.3";
const etcdVersion = "v3.7.3";
const helmVersion = "v4.3.1";
const kustomizeVersion = "v5.8.1";
const helmfileVersion = "v1.7.4";
/** The providers of secrets that people use; all of them would make the program half as large again, and take twice as long to build. */
const secretProviders = [
  "sops",
  "k8s",
  "vault",
  "openbao",
  "httpjson",
  "aws",
  "gcp",
  "azure",
  "gitlab",
  "onepasswordconnect",
];
const kwokVersion = "v0.8.0";
const registryVersion = "v3.1.2";
const versitygwVersion = "v1.8.0";

export const tools: Readonly<Record<ToolName, Tool>> = {
  etcd: {
    name: "etcd",
    version: etcdVersion,
    onPath: {
      arguments: ["--version"],
      pattern: /^etcd Version: (\d+\.\d+\.\d+)$/m,
      accept: "minor",
    },
    download: ({ os, arch }) => {
      // Releases for macOS are zip files.
      if (os !== "linux") return undefined;
      const name = `etcd-${etcdVersion}-${os}-${arch}`;
      const release = `etcd-io/etcd/releases/download/${etcdVersion}`;
      return {
        publisher: "etcd",
        path: `${release}/${name}.tar.gz`,
        checksumPath: `${release}/SHA256SUMS`,
        member: `${name}/etcd`,
      };
    },
    build: {
      dir: moduleDir("etcd"),
      module: "go.etcd.io/etcd/server/v3",
      package: "go.etcd.io/etcd/server/v3",
      ldflags: [],
      expectedSeconds: 20,
    },
  },
  "kube-apiserver": kubernetesTool("kube-apiserver", 130),
  "kube-controller-manager": kubernetesTool("kube-controller-manager", 45),
  "kube-scheduler": kubernetesTool("kube-scheduler", 5),
  kubectl: {
    ...kubernetesTool("kubectl", 16),
    onPath: {
      arguments: ["version", "--client"],
      pattern: /^Client Version: v(\d+\.\d+\.\d+)$/m,
      accept: "minor",
    },
  },
  helm: {
    name: "helm",
    version: helmVersion,
    onPath: {
      arguments: ["version", "--template", "{{.Version}}"],
      pattern: /^v(\d+\.\d+(?:\.\d+)?)(?:\+[\w.]+)?$/m,
      accept: "major",
    },
    download: ({ os, arch }) => ({
      publisher: "helm",
      path: `helm-${helmVersion}-${os}-${arch}.tar.gz`,
      checksumPath: `helm-${helmVersion}-${os}-${arch}.tar.gz.sha256sum`,
      member: `${os}-${arch}/helm`,
    }),
    build: {
      dir: moduleDir("helm"),
      module: "helm.sh/helm/v4",
      package: "helm.sh/helm/v4/cmd/helm",
      ldflags: [`-X helm.sh/helm/v4/internal/version.version=${helmVersion}`],
      expectedSeconds: 85,
    },
  },
  kustomize: {
    name: "kustomize",
    version: kustomizeVersion,
    onPath: {
      arguments: ["version"],
      pattern: /^v(\d+\.\d+\.\d+)$/m,
      accept: "minor",
      standalone: true,
    },
    download: ({ os, arch }) => {
      const release = `kubernetes-sigs/kustomize/releases/download/kustomize%2F${kustomizeVersion}`;
      return {
        publisher: "kustomize",
        path: `${release}/kustomize_${kustomizeVersion}_${os}_${arch}.tar.gz`,
        checksumPath: `${release}/checksums.txt`,
        member: "kustomize",
      };
    },
    build: {
      dir: moduleDir("kustomize"),
      module: "sigs.k8s.io/kustomize/kustomize/v5",
      package: "sigs.k8s.io/kustomize/kustomize/v5",
      ldflags: [`-X sigs.k8s.io/kustomize/api/provenance.version=kustomize/${kustomizeVersion}`],
      expectedSeconds: 35,
    },
  },
  // The launcher of the agent's sandbox, which is a part of this repository.
  confine: {
    name: "confine",
    version: `v${buildVersion}`,
    download: () => undefined,
    build: { dir: moduleDir("sandbox"), package: "./confine", ldflags: [], expectedSeconds: 2 },
  },
  // The programs helm and git of a run of helmfile.
  relay: {
    name: "relay",
    version: `v${buildVersion}`,
    download: () => undefined,
    build: { dir: moduleDir("sandbox"), package: "./relay", ldflags: [], expectedSeconds: 5 },
  },
  helmfile: {
    name: "helmfile",
    version: helmfileVersion,
    // A program on the PATH may have other providers of secrets.
    download: () => undefined,
    build: {
      dir: moduleDir("helmfile"),
      module: "github.com/helmfile/helmfile",
      package: "github.com/helmfile/helmfile",
      ldflags: [],
      tags: ["custom_providers", ...secretProviders],
      expectedSeconds: 400,
    },
  },
  kwok: {
    name: "kwok",
    version: kwokVersion,
    onPath: {
      arguments: ["--version"],
      pattern: /^kwok version v(\d+\.\d+\.\d+)/m,
      accept: "minor",
    },
    // Releases of kwok have no checksums.
    download: () => undefined,
    build: {
      dir: moduleDir("kwok"),
      module: "sigs.k8s.io/kwok",
      package: "sigs.k8s.io/kwok/cmd/kwok",
      ldflags: [],
      expectedSeconds: 50,
    },
  },
  registry: {
    name: "registry",
    version: registryVersion,
    onPath: {
      arguments: ["--version"],
      pattern: /github\.com\/distribution\/distribution\/v3 v(\d+\.\d+\.\d+)/,
      accept: "major",
    },
    download: ({ os, arch }) => {
      const file = `registry_${registryVersion.slice(1)}_${os}_${arch}.tar.gz`;
      const release = `distribution/distribution/releases/download/${registryVersion}`;
      return {
        publisher: "registry",
        path: `${release}/${file}`,
        checksumPath: `${release}/${file}.sha256`,
        member: "registry",
      };
    },
    build: {
      dir: moduleDir("registry"),
      module: "github.com/distribution/distribution/v3",
      package: "github.com/distribution/distribution/v3/cmd/registry",
      ldflags: [],
      expectedSeconds: 43,
    },
  },
  // The S3 server of tests; a local fleet has none.
  versitygw: {
    name: "versitygw",
    version: versitygwVersion,
    onPath: {
      arguments: ["--version"],
      pattern: /^Version\s*: v(\d+\.\d+\.\d+)$/m,
      accept: "major",
    },
    // Releases of versitygw have no checksum file of each download.
    download: () => undefined,
    build: {
      dir: moduleDir("versitygw"),
      module: "github.com/versity/versitygw",
      package: "github.com/versity/versitygw/cmd/versitygw",
      ldflags: [`-X main.Version=${versitygwVersion}`],
      expectedSeconds: 60,
    },
  },
};

/** Base URLs of the publishers; `FLOTILLA_MIRROR_…` replaces them. */
export const publisherBases: Readonly<Record<Publisher, string>> = {
  kubernetes: "https://dl.k8s.io",
  helm: "https://get.helm.sh",
  kustomize: "https://github.com",
  etcd: "https://github.com",
  registry: "https://github.com",
  debian: "https://deb.debian.org/debian",
};

function kubernetesTool(name: ToolName, expectedSeconds: number): Tool {
  return {
    name,
    version: kubernetesVersion,
    onPath: {
      arguments: ["--version"],
      pattern: /^Kubernetes v(\d+\.\d+\.\d+)$/m,
      accept: "minor",
    },
    download: ({ os, arch }) => {
      // Servers are published for Linux only, the client for all platforms.
      if (os !== "linux" && name !== "kubectl") return undefined;
      const path = `${kubernetesVersion}/bin/${os}/${arch}/${name}`;
      return { publisher: "kubernetes", path, checksumPath: `${path}.sha256` };
    },
    build: {
      dir: moduleDir("kubernetes"),
      module: "k8s.io/kubernetes",
      package: `k8s.io/kubernetes/cmd/${name}`,
      ldflags: [
        `-X k8s.io/component-base/version.gitVersion=${kubernetesVersion}`,
        // kubectl prints a warning without these two.
        "-X k8s.io/component-base/version.gitMajor=1",
        "-X k8s.io/component-base/version.gitMinor=36",
      ],
      expectedSeconds,
    },
  };
}

function moduleDir(name: string): string {
  return fileURLToPath(new URL(`../../tools/${name}`, import.meta.url));
}

/** The platform of this machine. Throws BINARY_UNAVAILABLE when it is not supported. */
export function currentPlatform(): Platform {
  const os =
    process.platform === "linux" || process.platform === "darwin" ? process.platform : undefined;
  const arch = process.arch === "x64" ? "amd64" : process.arch === "arm64" ? "arm64" : undefined;
  if (os === undefined || arch === undefined) {
    throw new AppError(
      localErrors.BINARY_UNAVAILABLE,
      `unsupported platform ${process.platform}/${process.arch}: the local fleet needs Linux or macOS on amd64 or arm64`,
    );
  }
  return { os, arch };
}
