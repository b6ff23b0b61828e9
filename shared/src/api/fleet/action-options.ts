/**
 * The options of actions: what each is called, and which values it has. A content has them as they are here, with times in seconds. The
 * APIs of users are built from them by `apiOptions`, with the texts and limits of each: for HelmOps and Bundles in
 * `release-actions.ts`, for HelmReleases in `flux/helm-release-actions.ts`.
 */
import * as z from "zod";
import { parseGoDuration } from "../../runtime/time/index.ts";
import { described, fields } from "./field.ts";

const seconds = z.number().min(0).optional();
const flag = z.boolean().optional();

const waitFields = {
  timeoutSeconds: seconds,
  disableWait: flag,
  disableWaitForJobs: flag,
  disableHooks: flag,
} as const;

const applyFields = {
  ...waitFields,
  disableOpenAPIValidation: flag,
  disableSchemaValidation: flag,
  disableTakeOwnership: flag,
} as const;

const crds = z.enum(["Skip", "Create", "CreateReplace"]).optional();
const serverSideApply = z.enum(["enabled", "disabled", "auto"]).optional();

const strategy = z.object({
  name: z.enum(["RemediateOnFailure", "RetryOnFailure"]),
  retryIntervalSeconds: seconds,
});

const installRemediation = z.object({
  retries: z.int().optional(),
  ignoreTestFailures: flag,
  remediateLastFailure: flag,
});

const upgradeRemediation = z.object({
  ...installRemediation.shape,
  strategy: z.enum(["rollback", "uninstall"]).optional(),
});

/** The options of each action, and those that two of them have in an object of their own. */
export const actionOptions = {
  strategy,
  installRemediation,
  upgradeRemediation,
  install: z.object({
    ...applyFields,
    createNamespace: flag,
    serverSideApply: flag,
    crds,
    strategy: strategy.optional(),
    remediation: installRemediation.optional(),
  }),
  upgrade: z.object({
    ...applyFields,
    force: flag,
    cleanupOnFail: flag,
    preserveValues: flag,
    serverSideApply,
    crds,
    chartNameChangeStrategy: z.enum(["Reinstall", "InPlaceUpdate"]).optional(),
    strategy: strategy.optional(),
    remediation: upgradeRemediation.optional(),
  }),
  test: z.object({
    enable: flag,
    timeoutSeconds: seconds,
    ignoreFailures: flag,
    filters: z.array(z.object({ name: z.string(), exclude: flag })).optional(),
  }),
  rollback: z.object({ ...waitFields, force: flag, cleanupOnFail: flag, serverSideApply }),
  uninstall: z.object({
    timeoutSeconds: seconds,
    disableHooks: flag,
    disableWait: flag,
    keepHistory: flag,
    deletionPropagation: z.enum(["background", "foreground", "orphan"]).optional(),
  }),
} as const;

/** Durations of the API, by the names that they have in seconds. */
const durations = { timeout: "timeoutSeconds", retryInterval: "retryIntervalSeconds" } as const;

type Durations = typeof durations;

type ApiName<K> = K extends Durations["timeout"]
  ? "timeout"
  : K extends Durations["retryInterval"]
    ? "retryInterval"
    : K;

type Options = Readonly<Record<string, z.ZodType>>;

/** The description of a field, and the meaning of an absent one for people; default: none, or `false` of a Boolean. */
export type FieldText = string | readonly [description: string, absent: string];

/** A text for each option, or its schema, where the API has limits or defaults of its own. What else has a schema is no option. */
type ApiTexts<O> = { readonly [K in keyof O as ApiName<K>]: FieldText | z.ZodType };

type ApiShape<O, D, T> = {
  [K in keyof T]: Extract<
    T[K] extends z.ZodType
      ? T[K]
      : K extends keyof Durations
        ? D
        : K extends keyof O
          ? O[K]
          : never,
    z.ZodType
  >;
};

export interface ApiDialect<D extends z.ZodType> {
  readonly duration: (text: FieldText) => D;
  /** With one the object has a section of its own on the reference page. */
  readonly title?: string;
}

/** The object of an API that has these options, in the order of the texts. */
export function apiOptions<
  O extends Options,
  D extends z.ZodType,
  const T extends ApiTexts<O> & Readonly<Record<string, FieldText | z.ZodType>>,
>(
  { shape }: z.ZodObject<O>,
  { duration, title }: ApiDialect<D>,
  texts: T,
): z.ZodObject<ApiShape<O, D, T>, z.core.$loose> {
  const built = Object.entries(texts).map(([name, text]) => {
    if (text instanceof z.ZodType) return [name, text];
    const option = shape[name];
    return [name, option === undefined ? duration(text) : withText(option, text)];
  });
  // What has no text is rejected by the compiler, and what has one is an option or a duration.
  return fields(Object.fromEntries(built) as ApiShape<O, D, T>, title);
}

/** The schema with the text. */
export function withText<S extends z.ZodType>(schema: S, text: FieldText): S {
  const [description, absent] = typeof text === "string" ? [text] : text;
  const isFlag = schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodBoolean;
  const meaning = absent ?? (isFlag ? "false" : undefined);
  return described(schema, description, meaning === undefined ? {} : { "x-default-text": meaning });
}

/** Options of the API as a content has them: without nulls, and with times in seconds. The caller removes what is no option. */
export function contentOptions(options: object): Readonly<Record<string, unknown>> {
  const given = Object.entries(options).flatMap(([name, value]: readonly [string, unknown]) => {
    if (value === null || value === undefined) return [];
    if (isDuration(name)) {
      const ms = typeof value === "string" && value !== "" ? parseGoDuration(value) : undefined;
      return ms === undefined ? [] : [[durations[name], ms / 1_000] as const];
    }
    const isObject = typeof value === "object" && !Array.isArray(value);
    return [[name, isObject ? contentOptions(value) : value] as const];
  });
  return Object.fromEntries(given);
}

function isDuration(name: string): name is keyof Durations {
  return Object.hasOwn(durations, name);
}
