import './style/layers.css';
import './style/tokens.css';
import './style/base.css';
import { createRoot } from 'react-dom/client';
import { readAddress } from './router/follow-address.ts';
import { App } from './shell/app.tsx';
import { followTheme } from './shell/theme.ts';

followTheme();
readAddress();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
