"""Configuration of the documentation; ``make docs`` builds it."""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # site_tools, here and in the processes of the gallery
os.environ.setdefault("OMP_NUM_THREADS", "1")

from mercer._version import __version__  # noqa: E402

project, author = "mercer", "The mercer developers"
copyright = "The mercer developers"
version = release = __version__

extensions = [
    "site_tools",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "README.md", "auto_examples/*/*.ipynb", "auto_examples/*.ipynb"]
templates_path = ["_templates"]
default_role = "literal"
highlight_language = "none"
suppress_warnings = ["config.cache"]
nitpicky = True
nitpick_ignore = [("py:class", "mercer.kernels._sparse.NumberedCounts")]  # GraphCounts and NearCounts are names of it

# -- Markdown ------------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
smartquotes_action = "qe"  # no dashes from --options
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

# -- API -----------------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": "BaseEstimator", "member-order": "bysource"}
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
numpydoc_xref_param_type = False
html_math_renderer = "mathml"

# -- gallery -------------------------------------------------------------------------------------------

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_\w+\.py",
    "subsection_order": "site_tools.section_order",
    "within_subsection_order": "site_tools.example_order",
    "doc_module": ("mercer",),
    "backreferences_dir": "api/backreferences",
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "copyfile_regex": r".*\.json",
    "matplotlib_animations": False,
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib", "site_tools.reset"),
    "default_thumb_file": str(HERE / "_static" / "mercer.svg"),
}

# -- pages ---------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["mercer.css"]
html_logo = html_favicon = "_static/mercer.svg"
html_title = f"mercer {version}"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {page: [] for page in ("index", "start", "choose", "changelog", "auto_examples/index")}
html_theme_options = {
    "logo": {"text": "mercer"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
