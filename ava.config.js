import { configOf } from './test/runner/config.js';

// What runs in the tests' own processes; named files may be of either tier.
export default await configOf('in-process');
