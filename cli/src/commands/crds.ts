/** `flotilla crds`: the CustomResourceDefinitions, for `kubectl apply -f -`. */
import { allCrds, renderCrd } from "@flotilla/shared/api/crd/crds.ts";

export function crds(): void {
  process.stdout.write(
    allCrds()
      .map((crd) => `---\n${renderCrd(crd)}`)
      .join(""),
  );
}
