import type { FleetState } from '../../../admin/schema.ts';
import type { Fleet, FleetMember } from '../../hub/fleet.ts';

/** Seconds after which two different configurations are shown as drift; a rollout takes less. */
const driftSeconds = 60;

/** The fleet's metrics. */
export const fleetFigures = ({ hub, members }: Fleet) => ({
  ...hub.figures,
  strangers: members().filter(({ isStranger }) => isStranger).length,
});

/** The answer of `GET /api/fleet`. */
export const fleetState = (fleet: Fleet): FleetState => {
  const { isUp, seconds, problem, clockOffSeconds } = fleet.hub.figures;
  const members = [...fleet.members()];
  const store = { up: isUp, seconds, problem: problem === '' ? null : problem, clockOffSeconds };
  return { store, drift: hasDrift(members), members };
};

/** Whether members have used different configurations for longer than a rollout takes. */
export const hasDrift = (members: readonly Pick<FleetMember, 'config' | 'configSeconds'>[]): boolean =>
  new Set(members.map(({ config }) => config)).size > 1 &&
  members.every(({ configSeconds }) => configSeconds >= driftSeconds);
