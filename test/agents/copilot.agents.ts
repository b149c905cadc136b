import { copilot } from './rig/others.ts';
import { testAgent } from './rig/test-agent.ts';

testAgent(copilot);
