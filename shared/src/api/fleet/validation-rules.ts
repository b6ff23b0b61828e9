/**
 * The validation rules of the CRDs, in CEL. Only on `spec.helm` and single fields: rules inside unbounded lists exceed the cost
 * budget of the API server. The hub validates the rest (targets, Secrets, constraints).
 */
export interface ValidationRule {
  /** CEL. */
  readonly rule: string;
  /** For the user whose object breaks the rule. */
  readonly message: string;
}

/** As floating point: `duration(self)` fails with an error of CEL where the text is longer than a duration can be. */
const nanoseconds =
  "self.findAll('[0-9.]+[a-zµ]+').map(part, double(part.find('[0-9.]+')) * (part.endsWith('ms') ? 1e6 : part.endsWith('us') || part.endsWith('µs') ? 1e3 : part.endsWith('ns') ? 1.0 : part.endsWith('s') ? 1e9 : part.endsWith('m') ? 6e10 : 3.6e12)).sum()";

/** 2562047 hours: the longest duration of Go is some minutes longer. */
const longestNanoseconds = "9.2233692e18";

/** A Go duration without a sign. */
export const durationRule: ValidationRule = {
  rule: `self == '0' || (self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && ${nanoseconds} <= ${longestNanoseconds})`,
  message:
    "must be a valid Go duration, with the units h, m, s, ms, us or ns, such as 5m or 1h30m; days and weeks have no unit: write 24h or 168h; at most 2562047h",
};

export const releaseNameRule: ValidationRule = {
  rule: "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
  message:
    "must be lower-case letters, digits, '-' and '.', and begin and end with a letter or a digit",
};

/** For a map of labels for a Cluster. */
export const clusterLabelsRules: readonly ValidationRule[] = [
  {
    rule: "self.all(name, name.size() <= 317 && name.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))",
    message: "every name must be one that Kubernetes allows for a label",
  },
  {
    rule: "self.all(name, self[name].matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))",
    message:
      "every value must be one that Kubernetes allows for a label: letters, digits, '-', '_' and '.', and a letter or a digit at either end",
  },
  {
    rule: "self.all(name, !name.startsWith('flotilla.dev/'))",
    message: "labels of flotilla.dev are the hub's own",
  },
];

const chart = "(has(self.chart) ? self.chart : '')";
const repo = "(has(self.repo) ? self.repo : '')";
const version = "(has(self.version) ? self.version : '')";
const isTarball = `${chart}.lowerAscii().endsWith('.tgz')`;
const isOci = `${repo}.lowerAscii().startsWith('oci://')`;

/**
 * A HelmOp names its chart in one of three ways. Each wrong combination breaks exactly one of these rules. One without repo and
 * chart breaks none: Fleet's API server takes it, too, and the hub says in Accepted what is missing.
 */
export const chartSourceRules: readonly ValidationRule[] = [
  {
    rule: `!(${isTarball}) || ${repo} == ''`,
    message:
      "tarball chart with a non-empty repo field: chart is the address of an archive (.tgz), so leave repo empty",
  },
  {
    rule: `!(${isTarball}) || ${version} == ''`,
    message:
      "tarball chart with a non-empty version field: chart is the address of an archive (.tgz), so leave version empty",
  },
  {
    rule: `${isTarball} || !(${isOci}) || ${chart} == ''`,
    message:
      "OCI repository with a non-empty chart field: leave chart empty and put the chart's name at the end of repo",
  },
  {
    rule: `${repo} == '' || ${isOci} || ${chart} != ''`,
    message:
      "non-OCI repository with an empty chart field: name a chart of the repository in chart",
  },
  {
    rule: `${isTarball} || ${chart} == '' || ${repo} != ''`,
    message:
      "non-tarball chart with an empty repo field: name the repository in repo, or give chart the address of an archive that ends in .tgz",
  },
];

/** Whether a field of a strategy that may be null is set. The type of null is none that CEL compares with others. */
function isSet(name: string): string {
  return `(has(self.${name}) && dyn(self.${name}) != null)`;
}

const partitionFields = [
  "partitions",
  "autoPartitionSize",
  "autoPartitionThreshold",
  "maxUnavailablePartitions",
] as const;

/** A strategy has one order of clusters. */
export const rolloutStrategyRules: readonly ValidationRule[] = [
  {
    rule: `!has(self.stages) || !(${partitionFields.map(isSet).join(" || ")})`,
    message:
      "stages and partitions are two orders: with stages, leave out partitions, autoPartitionSize, autoPartitionThreshold and maxUnavailablePartitions",
  },
  {
    rule: "!has(self.stages) || self.stages.all(stage, self.stages.exists_one(other, other.name == stage.name))",
    message: "stages have different names",
  },
];
