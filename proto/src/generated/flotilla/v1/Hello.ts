// Original file: proto/fleet.proto

import type { ObservedDeployment as _flotilla_v1_ObservedDeployment, ObservedDeployment__Output as _flotilla_v1_ObservedDeployment__Output } from '../../flotilla/v1/ObservedDeployment.ts';
import type { ObservedObject as _flotilla_v1_ObservedObject, ObservedObject__Output as _flotilla_v1_ObservedObject__Output } from '../../flotilla/v1/ObservedObject.ts';

export interface Hello {
  'oldestProtocolVersion'?: (number);
  'newestProtocolVersion'?: (number);
  'hubId'?: (string);
  'agentVersion'?: (string);
  'agentNamespace'?: (string);
  'deployments'?: (_flotilla_v1_ObservedDeployment)[];
  'referencedObjects'?: (_flotilla_v1_ObservedObject)[];
  'clusterInfoDigest'?: (string);
  'authoritiesDigest'?: (string);
  'capabilities'?: (string)[];
  'kubernetesVersion'?: (string);
}

export interface Hello__Output {
  'oldestProtocolVersion': (number);
  'newestProtocolVersion': (number);
  'hubId': (string);
  'agentVersion': (string);
  'agentNamespace': (string);
  'deployments': (_flotilla_v1_ObservedDeployment__Output)[];
  'referencedObjects': (_flotilla_v1_ObservedObject__Output)[];
  'clusterInfoDigest': (string);
  'authoritiesDigest': (string);
  'capabilities': (string)[];
  'kubernetesVersion': (string);
}
