/** Processor time that this process has used, in milliseconds. Unlike a clock it stands still while other processes run. */
export const cpuTimeMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
