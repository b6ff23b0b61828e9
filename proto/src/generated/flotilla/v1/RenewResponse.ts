// Original file: proto/fleet.proto

import type { Certificate as _flotilla_v1_Certificate, Certificate__Output as _flotilla_v1_Certificate__Output } from '../../flotilla/v1/Certificate.ts';

export interface RenewResponse {
  'certificate'?: (_flotilla_v1_Certificate | null);
}

export interface RenewResponse__Output {
  'certificate': (_flotilla_v1_Certificate__Output | null);
}
