"""What is said where a Python has no kpress."""

SENTENCE = (
    "{python} has no kpress: install it there (pip install 'kpress[spark]'), or set {variable} to a Python that has "
    "it before the session starts. PYSPARK_PYTHON decides for jobs and functions of columns, PYSPARK_DRIVER_PYTHON "
    "(PYSPARK_PYTHON if that is not set) for spark.read.format('kpress')."
)
