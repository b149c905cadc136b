import { configOf } from './test/runner/config.js';

// What starts real processes and browsers.
export default await configOf('processes');
