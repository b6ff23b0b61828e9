/** What is given to Helm: which chart, under which name, with which values. */
import { z } from "zod";
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

/** Helm's own limit for the name of a release. */
export const maxReleaseNameLength = 53;

/** Lower-case words of letters, digits and `-`, joined by dots. */
export const releaseNamePattern =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Longest address of a chart or a repository; without a limit the API server would not run the rules on them. */
const maxAddressLength = 2048;

/** The longest constraint that Helm's own parser reads. */
const maxVersionLength = 512;

export const helmDescription = "The chart and what is given to it.";

export const releaseNameDescription =
  "The name of the Helm release: at most 53 lower-case letters, digits, `-` and `.`, beginning and ending with a letter or a digit.";

const keyReference = fields({
  name: text("The object's name."),
  namespace: text("The object's namespace.", { absent: "the release's namespace" }),
  key: text("The key whose text is read as YAML.", { absent: "`values.yaml`" }),
});

const valuesFrom = fields({
  configMapKeyRef: described(keyReference.nullish(), "A key of a ConfigMap."),
  secretKeyRef: described(keyReference.nullish(), "A key of a Secret."),
});

export const helmOptionsSchema = fields(
  {
    chart: text(
      "The chart's name in the repository that `repo` names, or the address of a chart archive (ending in `.tgz`), which needs neither `repo` nor `version`. Empty for an OCI repository.",
      { maxLength: maxAddressLength },
    ),
    repo: text(
      "The repository: an `https://` or `http://` address that has an `index.yaml`, or `oci://HOST/PATH` with the chart's name at the end of the path.",
      { maxLength: maxAddressLength },
    ),
    version: text(
      "A version such as `1.2.3`, or a constraint as Helm knows them, such as `~1.4`, `>=2.0.0 <3.0.0` or `*`. The hub decides which version it stands for.",
      { maxLength: maxVersionLength, absent: "the newest version that is no prerelease" },
    ),
    releaseName: described(
      z.string().max(maxReleaseNameLength).regex(releaseNamePattern).nullish(),
      releaseNameDescription,
      { "x-default-text": "made from the object's name" },
    ),
    timeoutSeconds: integer(
      "How long Helm waits for what it installed to become ready, in seconds. With 0 it does not wait. In a target, a number below 0 takes the object's own timeout away.",
      { absent: "0" },
    ),
    values: freeForm(
      "Values for the chart, kept exactly as they are written. Those of a target are merged over those of the object.",
    ),
    templateValues: texts(
      "Values that are computed for each cluster: each entry is a template whose result is read as YAML and then replaces the value of that name.",
    ),
    valuesFrom: described(
      z.array(valuesFrom).nullish(),
      "ConfigMaps and Secrets of the cluster that hold more values; later entries win over earlier ones and over `values`.",
    ),
    valuesFiles: list(
      "Values files beside the chart, for Bundles made from Git. A HelmOp has none.",
    ),
    force: flag("Replace objects that cannot be changed in place: they are deleted and made anew."),
    takeOwnership: flag(
      "Take over objects that exist already and belong to no release or to another one.",
    ),
    maxHistory: integer("How many revisions of the release Helm keeps.", { absent: "2" }),
    waitForJobs: flag("Wait for Jobs to complete too, when `timeoutSeconds` is above 0."),
    atomic: flag("Undo an installation or an upgrade that fails."),
    disablePreProcess: flag("Take values as they are written instead of as templates."),
    disableDNS: flag(
      "Whether the chart's templates find no addresses of names (`getHostByName`): `false` lets them ask name servers, `true` has them find nothing.",
      "a chart that asks is refused",
    ),
    disableLookup: flag(
      "Whether a chart whose templates read the cluster (`lookup`) is refused: `false` lets it read what the account may that it is installed as.",
      "refused only where the agent itself would read, because there is no ServiceAccount",
    ),
    skipSchemaValidation: flag("Do not check the values against the chart's own schema."),
    disableDependencyUpdate: flag(
      "Without effect: dependencies that the chart lists but does not contain are never fetched.",
    ),
  },
  "HelmOptions",
);

export type HelmOptions = Typed<typeof helmOptionsSchema>;
