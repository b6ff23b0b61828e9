// Original file: proto/fleet.proto

import type { DriftedObject as _flotilla_v1_DriftedObject, DriftedObject__Output as _flotilla_v1_DriftedObject__Output } from '../../flotilla/v1/DriftedObject.ts';
import type { DriftEvent as _flotilla_v1_DriftEvent, DriftEvent__Output as _flotilla_v1_DriftEvent__Output } from '../../flotilla/v1/DriftEvent.ts';

export interface Drift {
  'objects'?: (_flotilla_v1_DriftedObject)[];
  'count'?: (number);
  'history'?: (_flotilla_v1_DriftEvent)[];
  'isWarning'?: (boolean);
}

export interface Drift__Output {
  'objects': (_flotilla_v1_DriftedObject__Output)[];
  'count': (number);
  'history': (_flotilla_v1_DriftEvent__Output)[];
  'isWarning': (boolean);
}
