export { accessSettingsFromSecret } from "./access-secret.ts";
export {
  accessFromSourceSecrets,
  type SourceAccessOptions,
  type SourceKind,
} from "./source-secrets.ts";
