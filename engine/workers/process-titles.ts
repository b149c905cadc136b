/** What the service's processes are called in the system's list of processes. */
export const processTitles = { service: 'switchyard: service', worker: 'switchyard: worker' } as const;
