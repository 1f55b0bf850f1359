"""Empty: an environment that was installed with an earlier version names this module to pytest. Install the package anew."""
