export { accessSettingsFromSecret } from "./access-secret.ts";
export {
  accessFromSourceSecrets,
  type SourceAccessOptions,
  type SourceKind,
  type SourceSecrets,
} from "./source-secrets.ts";
