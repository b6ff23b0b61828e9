/** Options for Helm: the chart, the release name and the values. */
import * as z from "zod";
import {
  described,
  fields,
  flag,
  freeForm,
  integer,
  list,
  type Typed,
  text,
  texts,
} from "./field.ts";
import { maxReleaseNameLength, releaseNamePattern } from "./names/index.ts";

/** The limit of an address of a chart or a repository; CEL rules need one for their cost budget. */
const maxAddressLength = 2048;

/** The longest constraint that Helm's parser accepts. */
const maxVersionLength = 512;

export const helmDescription = "The chart and its options.";

export const releaseNameDescription =
  "The name of the Helm release: at most 53 lower-case letters, digits, `-` and `.`, beginning and ending with a letter or a digit.";

const keyReference = fields({
  name: text("The object's name."),
  namespace: text("The object's namespace.", { absent: "the release's namespace" }),
  key: text("The key whose text is parsed as YAML.", { absent: "`values.yaml`" }),
});

const valuesFrom = fields({
  configMapKeyRef: described(keyReference.nullish(), "A key of a ConfigMap."),
  secretKeyRef: described(keyReference.nullish(), "A key of a Secret."),
});

export const helmOptionsSchema = fields(
  {
    chart: text(
      "The chart's name in the repository that `repo` names, or the address of a chart archive (ending in `.tgz`), without `repo` and `version`. Empty for an OCI repository.",
      { maxLength: maxAddressLength },
    ),
    repo: text(
      "The repository: an `https://` or `http://` address that has an `index.yaml`, or `oci://HOST/PATH` with the chart's name at the end of the path.",
      { maxLength: maxAddressLength },
    ),
    version: text(
      "A version such as `1.2.3`, or a constraint of Helm, such as `~1.4`, `>=2.0.0 <3.0.0` or `*`. The hub resolves it to a version.",
      { maxLength: maxVersionLength, absent: "the newest version that is not a prerelease" },
    ),
    releaseName: described(
      z.string().max(maxReleaseNameLength).regex(releaseNamePattern).nullish(),
      releaseNameDescription,
      { "x-default-text": "derived from the object's name" },
    ),
    timeoutSeconds: integer(
      "How long Helm waits until the installed objects are ready, in seconds. With 0 it does not wait. In a target, a negative number removes the timeout of the object.",
      { absent: "0" },
    ),
    values: freeForm(
      "Values for the chart, kept exactly as written. The values of a target are merged over the object's.",
    ),
    templateValues: texts(
      "Values that are rendered for each cluster: each entry is a template whose result is parsed as YAML and replaces the value of that name.",
    ),
    valuesFrom: described(
      z.array(valuesFrom).nullish(),
      "ConfigMaps and Secrets of the cluster with more values; later entries take precedence over earlier ones and over `values`.",
    ),
    valuesFiles: list(
      "Values files beside the chart, for Bundles made from Git. A HelmOp has none.",
    ),
    force: flag("Replace objects that cannot be updated: they are deleted and recreated."),
    takeOwnership: flag(
      "Take ownership of existing objects that belong to no release or to another one.",
    ),
    maxHistory: integer("The number of revisions of the release that Helm keeps.", { absent: "2" }),
    waitForJobs: flag("Also wait until Jobs are complete, when `timeoutSeconds` is above 0."),
    atomic: flag("Roll back an installation or upgrade that fails."),
    disablePreProcess: flag("Do not render templates in values."),
    disableDNS: flag(
      "Whether DNS is disabled in the chart's templates (`getHostByName`): `false` resolves names, `true` returns nothing.",
      "a chart that uses it is rejected",
    ),
    disableLookup: flag(
      "Whether a chart whose templates read the cluster (`lookup`) is rejected. Otherwise it reads with the permissions of the account that it is installed as.",
      "`false`",
    ),
    skipSchemaValidation: flag("Do not validate the values against the chart's schema."),
    disableDependencyUpdate: flag(
      "Unsupported: dependencies that the chart lists but does not contain are never downloaded.",
    ),
  },
  "HelmOptions",
);

export type HelmOptions = Typed<typeof helmOptionsSchema>;
