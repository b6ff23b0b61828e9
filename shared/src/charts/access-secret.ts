/** The Secret that `helmSecretName` names, as Fleet's users have it, read into access settings. */
import { AppError } from "../errors/app-error.ts";
import type { AccessSettings } from "./access.ts";
import { chartErrors } from "./errors.ts";

/**
 * `data` is decoded text by key. `insecureSkipVerify` is the HelmOp's own switch; where it is set it overrides the
 * Secret's, as in Fleet.
 */
export function accessSettingsFromSecret(
  data: Readonly<Record<string, string | undefined>>,
  insecureSkipVerify?: boolean,
): AccessSettings | AppError {
  const username = data["username"] ?? "";
  const password = data["password"] ?? "";
  if (username !== "" && password === "")
    return invalid("username is set in the secret, but password isn't");
  if (password !== "" && username === "")
    return invalid("password is set in the secret, but username isn't");

  const cacerts = data["cacerts"] ?? "";
  if (cacerts !== "" && !cacerts.includes("-----BEGIN CERTIFICATE-----")) {
    return invalid(
      "cacerts of the secret holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)",
    );
  }

  return {
    ...(username === "" ? {} : { username, password }),
    ...(cacerts === "" ? {} : { caPem: cacerts }),
    ...((insecureSkipVerify ?? isTrue(data["insecureSkipVerify"]))
      ? { insecureSkipVerify: true }
      : {}),
    ...(isTrue(data["basicHTTP"]) ? { plainHttp: true } : {}),
  };
}

/** What Go's strconv.ParseBool takes for true; everything else is false. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && ["1", "t", "T", "true", "TRUE", "True"].includes(text.trim());
}

function invalid(message: string): AppError {
  return new AppError(chartErrors.REPOSITORY_SECRET_INVALID, message);
}
