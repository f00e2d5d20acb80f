#!/usr/bin/env node
// A committed file, so that the package manager can link the bin before the first build.
import '../dist/cli.js';
