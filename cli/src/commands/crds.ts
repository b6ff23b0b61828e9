/** `flotilla crds`: the CustomResourceDefinitions, for `kubectl apply -f -`. */
import { allCrds } from "@flotilla/shared/api/crd/crds.ts";
import { renderCrd } from "@flotilla/shared/api/crd/render-crd.ts";

export function crds(): void {
  process.stdout.write(
    allCrds()
      .map((crd) => `---\n${renderCrd(crd)}`)
      .join(""),
  );
}
