/** How agents access the sources of a chart: addresses, and the Secrets in their namespaces. Reads caches. */
import type { SourceAccess } from "@flotilla/shared/api";
import type { AccessFrom, HelmRepository } from "@flotilla/shared/flux";
import { byNamespace } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type ObjectRef } from "@flotilla/shared/kube/objects";
import { isSameRepository } from "@flotilla/shared/source/chartbuild";
import type { FluxInformers } from "../../base/index.ts";
import type { SecretSource } from "./shared-sources.ts";

type SourceKinds = "helmRepositories" | "ociRepositories" | "gitRepositories" | "buckets";

export type FluxSources = { readonly [K in SourceKinds]: Pick<FluxInformers[K], "store"> };

/** The source, the repositories that it includes and those that its chart has dependencies from, as far as they have Secrets. */
export function secretSourcesOf(
  flux: FluxSources,
  { kind, namespace, name }: Required<ObjectRef> & { readonly kind: string },
  addresses: readonly string[] = [],
): readonly SecretSource[] {
  const key = keyOf({ namespace, name });
  const git = (of: string) => flux.gitRepositories.store.get(keyOf({ namespace, name: of }));
  const own = {
    HelmRepository: () => flux.helmRepositories.store.get(key),
    OCIRepository: () => flux.ociRepositories.store.get(key),
    GitRepository: () => git(name),
    Bucket: () => flux.buckets.store.get(key),
  };
  const source = isSourceKind(kind) ? own[kind]() : undefined;
  const included = kind === "GitRepository" ? (git(name)?.spec?.include ?? []) : [];
  return [
    ...secretSource(kind, source),
    ...included.flatMap(({ repository }) => secretSource("GitRepository", git(repository.name))),
    ...repositoriesAt(flux, namespace, addresses).flatMap((each) =>
      secretSource("HelmRepository", each),
    ),
  ];
}

function isSourceKind(kind: string): kind is SourceAccess["kind"] {
  return ["HelmRepository", "OCIRepository", "GitRepository", "Bucket"].includes(kind);
}

function secretSource(
  kind: string,
  source: SourceWithSecrets | undefined,
): readonly SecretSource[] {
  const { secretRef, certSecretRef, proxySecretRef, accessFrom } = source?.spec ?? {};
  if (source === undefined || (secretRef ?? certSecretRef ?? proxySecretRef) === undefined)
    return [];
  return [{ kind, metadata: source.metadata, accessFrom }];
}

interface SourceWithSecrets extends KubeObject {
  readonly spec?: {
    readonly secretRef?: { readonly name: string } | undefined;
    readonly certSecretRef?: { readonly name: string } | undefined;
    readonly proxySecretRef?: { readonly name: string } | undefined;
    readonly accessFrom?: AccessFrom | undefined;
  };
}

/** Undefined: the source does not exist. */
export function accessOf(
  flux: FluxSources,
  kind: SourceAccess["kind"],
  namespace: string,
  name: string,
): SourceAccess | undefined {
  const key = keyOf({ namespace, name });
  const secret = (ref: { readonly name: string } | undefined) =>
    ref === undefined ? undefined : `${namespace}/${ref.name}`;
  const secrets = (refs: {
    readonly secretRef?: { readonly name: string } | undefined;
    readonly certSecretRef?: { readonly name: string } | undefined;
    readonly proxySecretRef?: { readonly name: string } | undefined;
  }) =>
    given({
      secret: secret(refs.secretRef),
      certSecret: secret(refs.certSecretRef),
      proxySecret: secret(refs.proxySecretRef),
    });
  switch (kind) {
    case "HelmRepository": {
      const { spec } = flux.helmRepositories.store.get(key) ?? {};
      if (spec === undefined) return undefined;
      const { url, insecure, passCredentials } = spec;
      return { kind, url, ...secrets(spec), ...flags({ insecure, passCredentials }) };
    }
    case "OCIRepository": {
      const { spec } = flux.ociRepositories.store.get(key) ?? {};
      if (spec === undefined) return undefined;
      return { kind, url: spec.url, ...secrets(spec), ...flags({ insecure: spec.insecure }) };
    }
    case "GitRepository": {
      const { spec } = flux.gitRepositories.store.get(key) ?? {};
      return spec === undefined ? undefined : { kind, url: spec.url, ...secrets(spec) };
    }
    case "Bucket": {
      const { spec } = flux.buckets.store.get(key) ?? {};
      if (spec === undefined) return undefined;
      const scheme = spec.insecure === true ? "http" : "https";
      const url = `${scheme}://${spec.endpoint}/${spec.bucketName}`;
      return { kind, url, ...secrets(spec), ...flags({ insecure: spec.insecure }) };
    }
  }
}

/** The repositories that a GitRepository includes, in their order. */
export function includedOf(
  flux: FluxSources,
  namespace: string,
  name: string,
): readonly SourceAccess[] {
  const { spec } = flux.gitRepositories.store.get(keyOf({ namespace, name })) ?? {};
  return (spec?.include ?? []).flatMap(
    ({ repository }) => accessOf(flux, "GitRepository", namespace, repository.name) ?? [],
  );
}

/**
 * Access by the HelmRepositories of a namespace at the addresses of dependencies, as in source-controller. Those without a
 * HelmRepository are accessed without credentials.
 */
export function dependenciesOf(
  flux: FluxSources,
  namespace: string,
  addresses: readonly string[],
): readonly SourceAccess[] {
  return repositoriesAt(flux, namespace, addresses).flatMap(({ metadata }) => {
    const access = accessOf(flux, "HelmRepository", namespace, metadata.name);
    const isPlain = access?.secret === undefined && access?.certSecret === undefined;
    return access === undefined || (isPlain && access.insecure !== true) ? [] : [access];
  });
}

function repositoriesAt(
  flux: FluxSources,
  namespace: string,
  addresses: readonly string[],
): readonly HelmRepository[] {
  if (addresses.length === 0) return [];
  const sorted = flux.helmRepositories.store
    .byIndex(byNamespace, namespace)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return addresses.flatMap(
    (address) => sorted.find(({ spec }) => spec && isSameRepository(spec.url, address)) ?? [],
  );
}

function flags(values: Readonly<Record<string, boolean | undefined>>) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value === true));
}

function given(texts: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}
