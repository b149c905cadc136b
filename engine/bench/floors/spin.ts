/** Arithmetic that allocates nothing; returns its last number, so that the compiler keeps it. */
const compute = (steps: number, from: number): number => {
  let number = from | 1;
  for (let step = 0; step < steps; step += 1) number = (Math.imul(number, 1_103_515_245) + 12_345) | 0;
  return number;
};

/** Steps that are timed, and how often. */
const timed = 5_000_000;
const times = 6;

/** A function that computes for so many microseconds of processor time, as this machine is when it isn't slowed. */
export const spinFor = (us: number): (() => void) => {
  let number = 1;
  if (us <= 0) return () => {};
  let stepsPerUs = 0;
  for (let time = 0; time < times; time += 1) {
    const before = process.cpuUsage();
    number = compute(timed, number);
    const { user, system } = process.cpuUsage(before);
    stepsPerUs = Math.max(stepsPerUs, timed / Math.max(1, user + system));
  }
  const steps = Math.round(us * stepsPerUs);
  return () => {
    number = compute(steps, number);
  };
};
